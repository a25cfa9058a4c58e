"""The frame of a lesson's probe: the worst of all ranks counts, and a failed test says so."""

import pytest
from record_lines import events, of, run_program

PROGRAM = """
import os, time
from mpi4py import MPI
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

rank = MPI.COMM_WORLD.rank

def differs():
    yield "error", rank / 2
    yield "count", 1

def fails_on_one():
    yield "partly", 0
    if rank == 1:
        raise NotImplementedError("Exercise 10.4: the parts")

def is_nan():
    return [("nan", float("nan") if rank else 0.0)]

def leaves():
    raise SystemExit("as in a program")
    yield

def waits():
    if rank == 0:
        MPI.COMM_WORLD.recv(source=1)
    return [("waited", 0)]

def comes_too_late():
    return [("late", 0)]

run = Run("10", {"seed": 1}, source="probe")
tests = {differs: ("error",), fails_on_one: ("partly", "never")}
tests |= {is_nan: ("nan",), leaves: ("left",)}
if "STUCK" in os.environ:
    tests |= {waits: ("waited",), comes_too_late: ("late",)}
run_tests(run, tests, patience=5)
"""
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2")


def measures_of(found):
    return {event["value"]["name"]: event["value"] for event in of(found, "measure")}


@pytest.mark.ranks
def test_the_worst_of_all_ranks_counts_and_errors_are_failures(tmp_path):
    found = events(run_program(PROGRAM, folder=tmp_path, launcher=MPIRUN))
    measures = measures_of(found)
    assert (measures["error"]["value"], measures["count"]["value"]) == (0.5, 1)
    for name in ("partly", "never"):
        assert measures[name]["value"] is None
        assert measures[name]["failed"] == "rank 1: NotImplementedError: Exercise 10.4: the parts"
    assert measures["nan"]["value"] is None
    assert "nan" in measures["nan"]["failed"]
    assert measures["left"]["failed"] == "rank 0: SystemExit: as in a program"
    assert of(found, "header")[0]["value"]["source"] == "probe"
    assert of(found, "run_stop")[0]["metadata"]["status"] == "success"


@pytest.mark.ranks
def test_a_test_that_does_not_end_fails_with_those_after_it(tmp_path):
    output = run_program(PROGRAM, folder=tmp_path, launcher=MPIRUN, fails=True, STUCK="1")
    found = events(output)
    measures = measures_of(found)
    assert measures["error"]["value"] == 0.5
    for name in ("waited", "late"):
        assert measures[name]["value"] is None
        assert "did not end" in measures[name]["failed"]
    assert len(of(found, "rank_end")) == 2
    assert len(of(found, "run_stop")) == 1
