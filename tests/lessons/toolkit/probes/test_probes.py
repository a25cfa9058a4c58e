"""Tests of probes: right for the solution's functions, wrong for any that skip the work."""

import math

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit import probes

collectives = program("06_allreduce", "collectives")


def fails(*_):
    raise NotImplementedError("Exercise 6.1")


def nothing(*_):
    return None


# --- sums ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ([[1.0, 2.0], [4.0]], 0.0),
        ([[1.0, 2.5], [4.0]], 0.125),
        ([[1.0, math.nan], [4.0]], math.inf),
        ([[1.0, 2.0], [math.nan]], math.inf),
        ([[1.0, 2.0]], math.inf),
        ([[1.0], [4.0]], math.inf),
        ([["one", 2.0], [4.0]], math.inf),
        (None, math.inf),
        (7, math.inf),
    ],
)
def test_the_largest_error_is_a_share_of_the_largest_number(found, error):
    assert probes.largest_error(found, [np.array([1.0, 2.0]), np.array([4.0])]) == error


# --- exchanges ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_the_busiest_rank_moves_what_the_formulas_say(ranks):
    assert probes.arrays_moved(collectives.ps_allreduce, ranks) == 2 * (ranks - 1)
    moved = probes.arrays_moved(collectives.ring_allreduce, ranks)
    assert moved == pytest.approx(2 * (ranks - 1) / ranks)


def own_times_size(comm, values):
    values *= comm.Get_size()


@pytest.mark.parametrize("wrong", [fails, nothing, own_times_size])
def test_what_does_not_end_with_the_sum_moved_nothing_that_counts(wrong):
    assert math.isnan(probes.arrays_moved(wrong))


def waits_at_once(comm, gradients):
    for gradient in gradients:
        comm.Iallreduce(gradient, np.empty_like(gradient)).Wait()


def all_at_the_end(comm, gradients):
    for gradient in list(gradients):
        comm.Iallreduce(gradient, np.empty_like(gradient)).Wait()


def test_an_overlapped_exchange_has_begun_all_sums_but_the_last(monkeypatch):
    assert probes.under_way(collectives.overlapped_allreduce) == 2
    assert probes.under_way(all_at_the_end) == 0
    assert math.isnan(probes.under_way(fails))
    monkeypatch.setattr("lessons.toolkit.probes.collectives.PATIENCE", 0.2)
    assert probes.under_way(waits_at_once) == 0
    assert probes.under_way(nothing) == 0
