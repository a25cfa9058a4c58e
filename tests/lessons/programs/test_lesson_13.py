"""Tests of lesson 13 on real ranks: every way equals the serial network."""

import subprocess
import sys

import numpy as np
import pytest
from forked_runs import TORCH, run_forked
from real_runs import ROOT, environment

from autograder.reading.files import read_files

pytestmark = pytest.mark.ranks

LESSON = ROOT / "solutions" / "13_shard"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "shard_steps.py"
WAYS = ("ddp", "zero1", "zero2", "zero3", "fsdp")
LOADED = (*TORCH, "torch.distributed.fsdp")
SMALL = ("--layers", "2", "--width", "64")
STEPS_ON = (1, 3)  # ranks


def measured(run, name):
    [found] = [m for m in run.measures if m["name"] == name]
    return found["value"]


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """Return number of ranks -> folder of a job."""
    root = tmp_path_factory.mktemp("jobs")
    starts = {ranks: [(root / str(ranks), STEPS, "out.npz")] for ranks in STEPS_ON}
    return {int(folder.name): folder for folder in run_forked(*starts.items(), loaded=LOADED)}


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """Return number of ranks -> folder of a job."""
    root = tmp_path_factory.mktemp("jobs")
    ways = {3: WAYS, 1: ("zero3", "fsdp")}
    starts = {
        ranks: [(root / str(ranks), LESSON / "probe.py", *SMALL, "--ways", *tried)]
        for ranks, tried in ways.items()
    }
    return {int(folder.name): folder for folder in run_forked(*starts.items(), loaded=LOADED)}


@pytest.mark.slow
@pytest.mark.parametrize("ranks", STEPS_ON)
def test_every_way_gives_the_parameters_of_the_serial_network(ranks, steps):
    found = dict(np.load(steps[ranks] / "out.npz"))
    serial = found.pop("serial")
    assert len(found) == 9
    for params in found.values():
        np.testing.assert_allclose(params, serial, rtol=0, atol=1e-10)


@pytest.mark.nightly  # on two ranks in the whole lesson, on four in its rehearsal
@pytest.mark.parametrize(("ranks", "ways"), [(1, 2), (3, 5)])
def test_the_probe_finds_no_fault_in_the_solution(ranks, ways, probes):
    runs = read_files([probes[ranks] / "job.out"])
    assert len(runs) == ways
    for run in runs:
        assert measured(run, "serial_error") < 1e-10
        assert measured(run, "held_over_share") < 1.02
        counted = ranks > 1 and run.header["way"] != "fsdp"
        assert not counted or measured(run, "bytes_off") < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("program", ["train.py", "break_it.py"])
def test_too_few_windows_for_a_step_end_with_one_sentence(program, tmp_path):
    words = [sys.executable, LESSON / program, "--windows", "7"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    found = (done.returncode, done.stderr.splitlines()[-1:])
    assert found == (1, ["--windows 7: one step reads 1 × 8"])
