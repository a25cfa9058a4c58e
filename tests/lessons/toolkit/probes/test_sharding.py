"""Tests of the memory alive during a step, and of the numbers in lesson 13's record."""

import pytest
import torch

from lessons.toolkit.probes import sharding

pytestmark = pytest.mark.slow  # importing DTensor takes half a second in every worker


def test_what_is_alive_is_counted_once_and_until_it_dies():
    before = torch.zeros(100)
    with sharding.Alive([before, before[:10]]) as alive:
        made = torch.ones(50)
        view = made[:5]
        del made
        torch.zeros(1)
        assert alive.line[-1] == 400 + 200 + 4
        del view
        torch.zeros(1)
    assert alive.line[-1] == 400 + 4


def test_memory_that_was_given_back_does_not_count():
    whole = torch.zeros(100)
    with sharding.Alive([whole]) as alive:
        whole.untyped_storage().resize_(0)
        alive.note()
        assert alive.line[-1] == 0
        whole.untyped_storage().resize_(400)
        alive.note()
        assert alive.line[-1] == 400


@pytest.mark.parametrize(
    ("way", "ranks", "times"),
    [("ddp", 2, 1), ("zero1", 2, 1), ("zero2", 4, 1.5), ("zero3", 2, 1.5), ("fsdp", 4, 2.25)],
)
def test_bytes_are_compared_with_a_rings(way, ranks, times, monkeypatch):
    params = 1000
    monkeypatch.setattr(sharding.dist, "get_world_size", lambda: ranks)
    seen = {"held": 16_000, "line": [1, 3, 2], "marks": {"backward": 1}}
    seen["received"] = sharding.STEPS * times * 4000
    found = dict(sharding.sizes(seen, way, params))
    assert (found["times_params"], found["bytes_off"]) == (times, 0)
    assert (found["peak_bytes"], found["activation_bytes"], found["state_bytes"]) == (3, 2, 16_000)
    assert found["held_over_share"] >= 1
