"""Tests of the tables of traps in lessons 10 and 11, as small runs of PyTorch.

The trap that needs two ranks is in test_lesson_10.py.
"""

import datetime

import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler


def test_a_sampler_and_shuffle_exclude_each_other():
    sampler = DistributedSampler(range(8), 2, 0)
    with pytest.raises(ValueError, match="sampler option is mutually exclusive with shuffle"):
        DataLoader(range(8), sampler=sampler, shuffle=True)


def test_two_meetings_at_one_port():
    first = dist.TCPStore("127.0.0.1", 0, is_master=True)
    with pytest.raises(dist.DistNetworkError, match="address already in use"):
        dist.TCPStore("127.0.0.1", first.port, is_master=True)


def test_a_new_group_does_not_inherit_the_timeout(tmp_path):
    soon = datetime.timedelta(seconds=60)
    dist.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1, timeout=soon
    )
    try:
        groups = (dist.group.WORLD, dist.new_group())
        timeouts = [group._get_backend(torch.device("cpu")).options._timeout for group in groups]
    finally:
        dist.destroy_process_group()
    assert timeouts == [soon, datetime.timedelta(minutes=30)]


@pytest.fixture
def batch():
    torch.manual_seed(1)
    return torch.randn(12, 5), torch.randn(12, 1)


def test_a_sum_of_means_is_as_many_times_too_large_as_there_are_parts(batch):
    model, loss = nn.Linear(5, 1), nn.MSELoss()
    loss(model(batch[0]), batch[1]).backward()
    right = model.weight.grad.clone()
    model.zero_grad()
    for x, y in zip(*(values.chunk(4) for values in batch), strict=True):
        loss(model(x), y).backward()
    torch.testing.assert_close(model.weight.grad, 4 * right)


def test_batch_normalisation_sees_a_micro_batch_alone(batch):
    layer, images = nn.BatchNorm1d(5), batch[0]
    together = layer(images)
    apart = torch.cat([layer(part) for part in images.chunk(4)])
    assert (together - apart).abs().max() > 0.1
