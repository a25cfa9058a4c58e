"""Tests of lesson 13 on real ranks: every way equals the serial network; held and sent bytes."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT, environment, meet, run_together

from autograder.reading.files import read_files

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "13_shard"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "shard_steps.py"
FEW = ("--epochs", "1", "--windows", "24", "--batch-size", "2")
BY_HAND = ("zero1", "zero2", "zero3")


def started(folder, ranks, program, *words):
    """Return what this many ranks print; they have to succeed."""
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
    with (folder / "job.out").open("w") as out:
        done = subprocess.run(
            [*command, sys.executable, "-u", str(program), *map(str, words)],
            cwd=folder, env=environment(**meet()), stdout=out, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return runs_in(folder)


def runs_in(folder):
    return {run.header["source"]: run for run in read_files([folder / "job.out"])}


def measured(run, name):
    [found] = [m for m in run.measures if m["name"] == name]
    return found["value"]


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_way_gives_the_parameters_of_the_serial_network(ranks, tmp_path):
    started(tmp_path, ranks, STEPS, tmp_path / "out.npz")
    found = dict(np.load(tmp_path / "out.npz"))
    serial = found.pop("serial")
    assert len(found) == 8
    for params in found.values():
        np.testing.assert_allclose(params, serial, rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return ranks -> the folder of their job, which also has a checkpoint of fsdp."""
    ways = ("--ways", "ddp", *BY_HAND, "fsdp")
    found = {ranks: tmp_path_factory.mktemp(f"ranks{ranks}") for ranks in (2, 3)}
    for ranks, folder in found.items():
        started(folder, ranks, LESSON / "train.py", *ways, *FEW, "--save", "checkpoint")
    return found


@pytest.fixture(scope="module")
def runs(folders):
    """Return ranks -> way -> run."""
    return {ranks: runs_in(folder) for ranks, folder in folders.items()}


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_hold_their_share(runs, ranks):
    for way, run in runs[ranks].items():
        assert run.outcome == "completed"
        assert measured(run, "serial_error") < 1e-10
        assert measured(run, "held_over_share") == pytest.approx(1, abs=0.02), way
        assert run.end["param_spread"] == 0
        assert run.end["param_moved"] > 0
    for way in ("ddp", *BY_HAND):
        assert measured(runs[ranks][way], "memory_error") < 0.02
    peaks = {way: measured(run, "peak_bytes") for way, run in runs[ranks].items()}
    assert peaks["ddp"] > peaks["zero1"] > peaks["zero2"] > peaks["zero3"]
    assert peaks["fsdp"] < peaks["zero2"]


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_send_what_a_ring_has_to(runs, ranks):
    times = {way: measured(run, "times_params") for way, run in runs[ranks].items()}
    ring = (ranks - 1) / ranks
    for way in ("ddp", "zero1", "zero2"):
        assert 2 * ring < times[way] < 1.1 * 2 * ring
    assert 3 * ring < times["zero3"] < 1.1 * 3 * ring


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """Return name -> run, each on the same two ranks and in a folder of its own."""
    words = {
        "library": ("--ways", "zero2", "--reduce-scatter", "library"),
        "mixed": ("--ways", "fsdp", "--policy", "mixed"),
        "recompute": ("--ways", "fsdp", "--recompute"),
    }
    starts = [
        (tmp_path_factory.mktemp(name), LESSON / "train.py", (*more, *FEW))
        for name, more in words.items()
    ]
    return dict(zip(words, run_together(2, starts, **meet()), strict=True))


def test_recomputing_blocks_leaves_less_behind(runs, variants):
    kept = {measured(runs[2][way], "activation_bytes") for way in ("ddp", *BY_HAND, "fsdp")}
    assert max(kept) < 1.1 * min(kept)
    assert 0 < measured(variants["recompute"], "activation_bytes") < min(kept) / 2


def test_gloos_reduce_scatter_sends_as_much_as_an_allreduce(variants):
    allreduce_and_gather = 3 / 2  # of the parameters, on two ranks
    times = measured(variants["library"], "times_params")
    assert allreduce_and_gather < times < 1.1 * allreduce_and_gather


@pytest.mark.parametrize(("wrote", "reads"), [(3, 1), (2, 3)])
def test_a_checkpoint_is_read_by_another_number_of_ranks(wrote, reads, folders, runs, tmp_path):
    written = runs[wrote]["fsdp"]
    assert measured(written, "ranks_wrote") == wrote
    assert measured(written, "largest_share") < 1.3 / wrote
    shutil.copytree(folders[wrote] / "checkpoint", tmp_path / "checkpoint")
    read = started(tmp_path, reads, LESSON / "load.py", *FEW)["load"]
    assert read.test_loss.value == pytest.approx(written.test_loss.value, abs=1e-6)
    assert measured(read, "next_loss") == pytest.approx(measured(written, "next_loss"), abs=1e-4)
    hashes = {rank.param_hash for rank in (*read.ranks, *written.ranks)}
    assert len(hashes) == 1


def test_blocks_in_bfloat16_send_less_and_blocks_computed_twice_keep_less(runs, variants):
    float32 = runs[2]["fsdp"]
    mixed, twice = variants["mixed"], variants["recompute"]
    assert measured(mixed, "times_params") < 0.85 * measured(float32, "times_params")
    assert 1e-6 < measured(mixed, "serial_error") < 1
    assert measured(twice, "serial_error") < 1e-10
    assert measured(twice, "peak_bytes") < measured(float32, "peak_bytes")
