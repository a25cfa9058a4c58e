"""Tests of the numbers that lesson 15's functions get: 0 if right, and worse for each mistake."""

import math
import sys
from types import SimpleNamespace

import pytest
import torch

from lessons.toolkit.probes import surviving
from tests.lessons.real_runs import ROOT


@pytest.fixture
def solution(monkeypatch):
    import importlib

    monkeypatch.syspath_prepend(str(ROOT / "solutions" / "15_survive"))
    names = ("atomic", "pieces")
    found = SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    yield found
    for name in names:
        sys.modules.pop(name, None)


def test_the_solution_has_no_error(solution):
    assert surviving.files_wrong(solution.atomic) == 0
    assert surviving.gradient_error(solution.pieces.add_gradients) < 1e-12


def test_files_that_are_written_in_place_or_read_without_a_look(solution, tmp_path):
    in_place = SimpleNamespace(**vars(solution.atomic) | {"write": torch.save})
    met, *_ = surviving.files_met(in_place)
    assert [name for name, right in met.items() if not right] == ["synced", "old file kept"]
    atomic, files_in = vars(solution.atomic), solution.atomic.files_in
    loads = {"map_location": "cpu"}
    blind = {"newest": lambda folder: torch.load(files_in(folder)[-1], **loads)}
    assert surviving.files_wrong(SimpleNamespace(**atomic | blind)) == 1
    loads.clear()  # onto rank 0's GPU
    met, *_ = surviving.files_met(SimpleNamespace(**atomic | blind))
    assert (met["newest"], met["in host memory"]) == (True, False)


def weighed(weight):
    def add_gradients(loss_of_piece, batch, rank, size, most):
        for piece in batch[rank::size].split(most):
            (loss_of_piece(piece) * weight(len(piece), len(batch))).backward()
        return torch.tensor(0.0)

    return add_gradients


def test_gradients_that_do_not_add_up(solution):
    assert surviving.gradient_error(weighed(lambda piece, batch: 1)) > 0.1
    assert math.isnan(surviving.gradient_error(weighed(lambda piece, batch: math.nan)))
    right = solution.pieces.add_gradients
    too_long = surviving.gradient_error(lambda loss, b, r, s, most: right(loss, b, r, s, 2 * most))
    assert too_long == float("inf")
