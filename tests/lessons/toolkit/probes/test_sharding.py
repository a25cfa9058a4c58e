"""Tests of the memory alive during a step, and of the numbers in lesson 13's record."""

import pytest
import torch

from lessons.toolkit.probes import sharding

pytestmark = pytest.mark.slow  # importing DTensor takes half a second in every worker


class Noted:
    """A record that keeps what is measured."""

    def __init__(self):
        self.told = {}

    def measure(self, name, value, unit, **point):
        self.told[name] = value


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
    record, steps, params = Noted(), 5, 1000
    monkeypatch.setattr(sharding, "bytes_so_far", lambda: 7 + round(times * 4000 * steps))
    sharding.note_bytes(record, way, 7, steps, params, ranks)
    assert record.told == {"times_params": times, "bytes_off": 0}


def test_files_are_counted_by_the_rank_that_wrote_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sharding.dist, "barrier", lambda: None)
    for name, size in {"__0_0": 10, "__0_1": 20, "__1_0": 30, "other": 99}.items():
        (tmp_path / f"{name}.distcp").write_bytes(b"x" * size)
    record = Noted()
    sharding.note_files(record, str(tmp_path))
    assert record.told == {"ranks_wrote": 2, "largest_share": 0.5}
