"""Tests of what the record measures of parameters and of the samples read."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays
from record_lines import events, of, run_program

from lessons.toolkit.record.parameters import PIECE, moved, param_hash, pieces
from lessons.toolkit.record.samples import what_was_read

numbers = numpy_arrays(np.float32, (3, 40), elements=st.floats(-8, 8, width=32))


@given(numbers)
def test_the_hash_tells_numbers_and_not_their_sign_of_zero(ranks):
    one, other = [ranks[0]], [ranks[1]]
    assert (param_hash(one) == param_hash(other)) == bool((ranks[0] == ranks[1]).all())
    assert param_hash([np.array([-0.0])]) == param_hash([np.array([0.0])])


def test_parameters_that_diverged_have_no_change_that_is_a_number():
    diverged = [np.array([1.0, np.nan]), np.zeros(3)]
    assert np.isnan(moved([np.zeros(2), np.zeros(3)], diverged)[0])
    assert moved([np.zeros(2), np.ones(3)], [np.full(2, 0.25), np.ones(3)]) == (0.25, 2)


def test_large_parameters_are_compared_in_pieces():
    arrays = [np.arange(2.0 * PIECE + 6).reshape(2, -1), np.array(7.0), np.zeros((0, 3))]
    found = list(pieces(arrays))
    assert [piece.size for piece in found] == [PIECE, PIECE, 6, 1]
    assert (np.concatenate(found[:3]) == arrays[0].ravel()).all()


@given(st.lists(st.lists(st.integers(0, 30), max_size=9), min_size=1, max_size=9))
def test_what_was_read_is_counted(steps):
    found = what_was_read([np.array(step, np.int32) for step in steps])
    flat = [index for step in steps for index in step]
    assert found["distinct"] == len(set(flat))
    assert found["most"] == max(map(flat.count, flat), default=0)
    cut_otherwise = what_was_read([np.array(flat, np.int64)])
    assert cut_otherwise == found, "the order is that of samples, however they are cut in batches"
    if flat != flat[::-1]:
        assert what_was_read([np.array(flat[::-1])])["order"] != found["order"]


# Rank 1 ends elsewhere; after training both take rank 0's numbers, as a hidden broadcast would.
APART = """
import numpy as np
from mpi4py import MPI
from lessons.toolkit.record import Run

comm = MPI.COMM_WORLD
weights = {"w": np.zeros((2, 3)), "b": np.zeros(4)}
run = Run("07", {"epochs": 1, "batch_size": 5}, weights)
with run.epoch() as log:
    weights["w"] += 1 + comm.rank / 4
    log(steps=1, loss=1.0, accuracy=0.5)
weights["w"][:] = 1
run.end()
"""


@pytest.mark.ranks
def test_ranks_are_compared_before_anything_else_is_done_with_them(tmp_path):
    launcher = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2")
    found = events(run_program(APART, folder=tmp_path, launcher=launcher))
    [end] = of(found, "run_stop")
    assert (end["value"]["param_spread"], end["value"]["param_moved"]) == (0.25, 1.0)
    ranks = [event["value"] for event in of(found, "rank_end")]
    assert len({rank["param_hash"] for rank in ranks}) == 2
    assert len({rank["start_hash"] for rank in ranks}) == 1
