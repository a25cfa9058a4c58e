"""Tests of the expectations that lesson 15's checkpoint files do not meet."""

import sys
from types import SimpleNamespace

import pytest
import torch

from lessons.toolkit.probes import surviving
from tests.lessons.real_runs import ROOT


@pytest.fixture
def right(monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(str(ROOT / "solutions" / "15_survive"))
    yield importlib.import_module("atomic")
    sys.modules.pop("atomic", None)


def test_files_that_are_written_in_place_or_read_without_a_look(right):
    in_place = SimpleNamespace(**vars(right) | {"write": torch.save})
    met = surviving.files_met(in_place)
    assert [name for name, right in met.items() if not right] == ["synced", "old file kept"]
    blind = {"newest": lambda folder: torch.load(right.files_in(folder)[-1], map_location="cpu")}
    with pytest.raises(RuntimeError, match="zip archive"):
        surviving.files_met(SimpleNamespace(**vars(right) | blind))


def test_a_state_on_another_device_than_the_host(right):
    states = iter([{"step": 10}, {"step": 10, "of": torch.ones(2, device="meta")}, {"step": 5}])
    elsewhere = SimpleNamespace(**vars(right) | {"newest": lambda folder: next(states)})
    met = surviving.files_met(elsewhere)
    assert [name for name, right in met.items() if not right] == ["in host memory"]
