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

def is_cut():  # as by torch.distributed.checkpoint's CheckpointException
    raise BaseException("the write was cut")

def waits():
    if rank == 0:
        MPI.COMM_WORLD.recv(source=1)
    return [("waited", 0)]

def comes_too_late():
    return [("late", 0)]

run = Run("10", {"seed": 1}, source="probe")
tests = {differs: ("error",), fails_on_one: ("partly", "never")}
tests |= {is_nan: ("nan",), leaves: ("left",), is_cut: ("cut",)}
if "STUCK" in os.environ:
    tests |= {waits: ("waited",), comes_too_late: ("late",)}
run_tests(run, tests, patience=3)
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
    assert measures["cut"]["failed"] == "rank 0: BaseException: the write was cut"
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


ALONE = """
import time
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

def waits():
    return [("waited", 0)]

def lose_the_others(value):
    time.sleep(SECONDS)  # until the group's timeout
    raise RuntimeError("Connection closed by peer")

run = Run("10", {"seed": 1}, source="probe")
run.everyone = lose_the_others
run_tests(run, {waits: ("waited",), print: ("later",)}, patience=PATIENCE)
"""


@pytest.mark.parametrize(
    ("seconds", "patience", "reason"), [(2, 1, "did not end"), (0, 1, "Connection closed")]
)
def test_one_thread_records_a_test_whose_ranks_lost_each_other(seconds, patience, reason, tmp_path):
    text = ALONE.replace("SECONDS", str(seconds)).replace("PATIENCE", str(patience))
    found = events(run_program(text, folder=tmp_path, fails=True))
    assert [event["value"]["name"] for event in of(found, "measure")] == ["waited", "later"]
    assert all(reason in event["value"]["failed"] for event in of(found, "measure"))
    assert [event["metadata"]["status"] for event in of(found, "run_stop")] == ["success"]


APART = """
import os, sys, time
from lessons.toolkit.probes.on_ranks import meet

def start_ranks():
    if "HANGS" in os.environ:
        time.sleep(60)
    raise NotImplementedError("Exercise 10.1: the ranks meet")

sys.modules["lessons.toolkit.probes.on_ranks"].PATIENCE = 2.0
meet(start_ranks, "10", {"seed": 1}, {print: ("error", "spread"), input: ("alone",)})
print("they have met")
"""


@pytest.mark.ranks
@pytest.mark.parametrize(("hangs", "reason"), [({}, "Exercise 10.1"), ({"HANGS": "1"}, "did not")])
def test_ranks_that_do_not_meet_fail_all_tests(hangs, reason, tmp_path):
    output = run_program(APART, folder=tmp_path, launcher=MPIRUN, fails=True, **hangs)
    found = events(output)
    measures = measures_of(found)
    assert list(measures) == ["error", "spread", "alone"]
    assert all(reason in each["failed"] for each in measures.values())
    [header] = (event["value"] for event in of(found, "header"))
    assert (header["lesson"], header["source"], header["world_size"]) == ("10", "probe", 2)
    assert len(of(found, "rank")) == 2
    assert "they have met" not in output
