"""Tests of the probes of DDP with right and wrong functions, on one rank of this process."""

import copy
import math

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lessons.toolkit.probes import data_parallel
from lessons.toolkit.probes.data_parallel import accumulation, alone_error
from tests.lessons.solution_programs import program

no_sync = program("10_native", "no_sync")
generator = torch.Generator().manual_seed(5)
IMAGES = torch.rand(20, 6, generator=generator)
LABELS = torch.randint(0, 4, (20,), generator=generator)
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(6)
    NETWORK = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def distribute(model, device):
    return DistributedDataParallel(model)


def accumulated(function):
    return accumulation(function, distribute, NETWORK, IMAGES, LABELS, lambda value: [value])


def stepped_alone(function):
    return alone_error(function, distribute, NETWORK, IMAGES, LABELS)


@pytest.mark.slow
def test_the_solutions_are_right():
    before = copy.deepcopy(NETWORK.state_dict())
    found = accumulated(no_sync.accumulate)
    assert found["accumulation_error"] < 1e-5
    assert found["exchanges"] == 1
    assert stepped_alone(no_sync.step_alone) < 1e-6
    assert all(torch.equal(values, before[name]) for name, values in NETWORK.state_dict().items())


def whole_batch(model, loss_function, x, y, parts):
    loss_function(model(x), y).backward()


def every_part_travels(model, loss_function, x, y, parts):
    for xs, ys in zip(x.chunk(parts), y.chunk(parts), strict=True):
        (loss_function(model(xs), ys) * len(xs) / len(x)).backward()


def sum_of_means(model, loss_function, x, y, parts):
    for xs, ys in zip(x.chunk(parts), y.chunk(parts), strict=True):
        loss_function(model(xs), ys).backward()


@pytest.mark.parametrize(
    ("function", "wrong", "exchanges"),
    [
        (whole_batch, False, 1),
        (every_part_travels, False, 4),
        (sum_of_means, True, 4),
        (lambda *_: None, True, math.nan),
    ],
)
def test_other_ways_to_accumulate(function, wrong, exchanges):
    found = accumulated(function)
    assert (found["accumulation_error"] > 0.05) == wrong
    assert found["exchanges"] == pytest.approx(exchanges, nan_ok=True)


def test_a_gap_is_told_and_stops_nothing(capsys):
    def gap(*_):
        raise NotImplementedError("Exercise 10.5: step alone")

    assert accumulated(gap)["accumulation_error"] == math.inf
    assert stepped_alone(gap) == math.inf
    assert capsys.readouterr().err.count("could not be measured") == 2


def test_no_step_and_another_step_are_told_from_the_right_one():
    def another(model, optimizer, loss_function, x, y):
        loss_function(model.module(x), y).backward()  # on top of the last step's gradients
        optimizer.step()

    def left_in_eval(model, optimizer, loss_function, x, y):
        no_sync.step_alone(model, optimizer, loss_function, x, y)
        model.eval()

    assert stepped_alone(left_in_eval) == math.inf
    assert stepped_alone(lambda *_: None) > 1e-4
    assert stepped_alone(another) > 1e-4


def test_the_rank_waits_for_its_gpu_before_it_meets_the_others(monkeypatch):
    """With NCCL, a step that needs the other ranks returns at once, and only the GPU waits."""
    happened = []
    monkeypatch.setattr(data_parallel, "synchronise", lambda: happened.append("waited"))
    monkeypatch.setattr(dist, "broadcast", lambda *_, group: happened.append("met"))

    def step(*given):
        happened.append("stepped")
        no_sync.step_alone(*given)

    stepped_alone(step)
    assert happened == ["stepped", "waited", "met"]
