"""Tests of a speed job's rounds on real ranks: who steps in which phase, and the record."""

import json

import pytest
from record_lines import events, of, run_program
from test_record_ranks import MPIRUN

# Each rank "trains" one array. What it did, in order, goes to a file of its own; the steps of the
# silent phases wait for nobody, and those together would wait for ever if a rank were missing.
PROGRAM = """
import json, os
import numpy as np
from mpi4py import MPI
from lessons.toolkit.record import Record, rounds

comm = MPI.COMM_WORLD
done = []
network = np.full(1000, 1.0, np.float32)

def silent():
    done.append("silent")

def together():
    done.append("together")
    gradient = np.full(1000, comm.rank + 1.0, np.float32)
    if os.environ["AVERAGED"] == "yes":
        comm.Allreduce(MPI.IN_PLACE, gradient)
    network[:] -= float(os.environ["RATE"]) * gradient

record = Record("07", source="speed", rank=comm.rank, size=comm.size)
rounds.measure(record, comm, silent=silent, together=together, params=lambda: [network],
               samples=64, rounds=4, steps=3, warm_up=2)
record.end()
with open(f"did_{comm.rank}.json", "w") as file:
    json.dump(done, file)
"""
WARM_UP, PHASE = 2, 3


def measured(folder, averaged="yes", rate="0.5", ranks=2):
    launcher = (*MPIRUN[:-1], str(ranks))
    output = run_program(PROGRAM, folder=folder, launcher=launcher, AVERAGED=averaged, RATE=rate)
    return [event["value"] for event in of(events(output), "measure")]


@pytest.mark.ranks
def test_who_steps_when(tmp_path):
    found = measured(tmp_path, ranks=3)
    assert [value["round"] for value in found] == [1, 2, 3, 4]
    for value in found:
        assert value["name"] == "round"
        assert min(value["alone_s"], value["silent_s"], value["value"]) > 0
        assert (value["steps"], value["samples"], value["spread"]) == (PHASE, 64, 0)
        assert value["moved"] == pytest.approx(PHASE * 0.5 * (1 + 2 + 3))
    # Forwards and backwards in turns; in the phase alone only rank 0 steps.
    silent, together = ["silent"] * PHASE, ["together"] * PHASE
    for rank in range(3):
        alone = silent if rank == 0 else []
        there_and_back = [*alone, *silent, *together, *together, *silent, *alone]
        warm_up = ["silent"] * WARM_UP * (2 if rank == 0 else 1) + ["together"] * WARM_UP
        did = json.loads((tmp_path / f"did_{rank}.json").read_text())
        assert did == [*warm_up, *there_and_back, *there_and_back]


@pytest.mark.ranks
@pytest.mark.parametrize(
    ("averaged", "rate", "moved", "apart"),
    [
        ("no", "0.5", PHASE * 0.5, True),  # rank 0, whose gradient is the smallest
        ("yes", "0", 0, False),
    ],
)
def test_what_the_record_says_of_the_parameters(averaged, rate, moved, apart, tmp_path):
    found = measured(tmp_path, averaged, rate)
    for value in found:
        assert value["moved"] == pytest.approx(moved)
        assert (value["spread"] != 0) == apart
    spreads = [value["spread"] for value in found]
    assert spreads == sorted(spreads), "ranks that do not average drift apart"


@pytest.mark.ranks
def test_a_network_that_diverged_has_no_spread(tmp_path):
    assert {value["spread"] for value in measured(tmp_path, rate="nan")} == {"nan"}
