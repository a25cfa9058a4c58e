"""Tests of the number that tells whether the sampler drew an order for each epoch."""

import pytest
import torch

from lessons.toolkit.probes.orders import orders_as_drawn


def drawn(sampler, epoch):
    sampler.set_epoch(epoch)
    return torch.tensor(list(sampler))


def moved_on(sampler, epoch):
    return torch.tensor(list(sampler)).roll(epoch)


def own_shuffle(sampler, epoch):
    share = torch.tensor(list(sampler))
    return share[torch.randperm(len(share), generator=torch.Generator().manual_seed(epoch))]


WRONG = {
    "the first epoch's": lambda sampler, epoch: torch.tensor(list(sampler)),
    "shifted by the epoch": moved_on,
    "the first epoch's share, shuffled": own_shuffle,
    "sorted": lambda sampler, epoch: drawn(sampler, epoch).sort().values,
    "the epoch after": lambda sampler, epoch: drawn(sampler, epoch + 1),
    "nothing": lambda sampler, epoch: None,
}


def test_what_the_sampler_draws():
    assert orders_as_drawn(drawn, seed=1) == 1


@pytest.mark.parametrize("name", WRONG)
def test_any_other_order(name):
    assert orders_as_drawn(WRONG[name], seed=1) == 0
