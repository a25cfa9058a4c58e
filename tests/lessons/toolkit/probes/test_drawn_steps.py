"""Tests of training steps that are computed again, on one rank of this process."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit.probes.drawn_steps import DrawnSteps

BATCH, STEPS = 8, 5
LOSS = nn.CrossEntropyLoss()


def trained(step, steps=STEPS, class_=torch.optim.Adam):
    """Train two epochs with this step, and return what the drawn steps showed."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.BatchNorm1d(6), nn.Linear(6, 4))
    images, labels = torch.rand(BATCH * STEPS + 3, 3, 4), torch.randint(0, 4, (BATCH * STEPS + 3,))
    drawn = DrawnSteps(network, LOSS)
    optimizer = class_(network.parameters(), lr=0.01)
    for _ in range(2):
        order = torch.randperm(len(images))
        batches = order.split(BATCH)
        drawn.draw(images, labels, order.numpy(), BATCH)
        for batch in batches[:steps]:
            optimizer.zero_grad()
            with drawn.watch(optimizer):
                step(network, images[batch], labels[batch])
                optimizer.step()
        drawn.compute_again()
    return drawn.measures()


def right(network, x, y):
    LOSS(network(x), y).backward()


def half_the_batch(network, x, y):
    LOSS(network(x[:4]), y[:4]).backward()


def other_images(network, x, y):
    LOSS(network(x.flip(2)), y).backward()


def four_times(network, x, y):
    (4 * LOSS(network(x), y)).backward()


def two_parts(network, x, y):
    for xs, ys in zip(x.chunk(2), y.chunk(2), strict=True):
        (LOSS(network(xs), ys) / 2).backward()


def a_weight_of_its_own(network, x, y):
    right(network, x, y)
    with torch.no_grad():
        network[1].weight[0, 0] += 0.5


@pytest.fixture
def alone():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("class_", [torch.optim.Adam, torch.optim.SGD])
def test_the_right_step_is_repeated_exactly(class_):
    found = trained(right, class_=class_)
    assert found["drawn_error"] < 1e-5
    assert (found["drawn_spread"], found["drawn_images"]) == (0.0, BATCH)
    assert found["drawn_largest"] == BATCH


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("step", "images", "largest"),
    [
        (half_the_batch, 4, 4),
        (other_images, 0, BATCH),
        (four_times, BATCH, BATCH),
        (two_parts, BATCH, 4),
        (a_weight_of_its_own, BATCH, BATCH),
    ],
)
def test_other_steps_show(step, images, largest):
    found = trained(step)
    assert (found["drawn_error"] > 0.05) == (step is not two_parts)
    assert (found["drawn_images"], found["drawn_largest"]) == (images, largest)


@pytest.mark.usefixtures("alone")
def test_watching_changes_no_step():
    def parameters(watched):
        torch.manual_seed(2)
        network = nn.Linear(12, 4)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
        images, labels = torch.rand(4 * BATCH, 12), torch.randint(0, 4, (4 * BATCH,))
        drawn = DrawnSteps(network, LOSS)
        if watched:
            drawn.draw(images, labels, range(len(images)), BATCH)
        for batch in torch.arange(len(images)).split(BATCH):
            optimizer.zero_grad()
            if watched:
                with drawn.watch(optimizer):
                    right(network, images[batch], labels[batch])
                    optimizer.step()
                continue
            right(network, images[batch], labels[batch])
            optimizer.step()
        if watched:
            drawn.compute_again()
        return network.weight

    assert torch.equal(parameters(watched=True), parameters(watched=False))
