"""Tests of lesson 13 on real ranks: every way equals the serial network; held and sent bytes."""

import subprocess
import sys

import numpy as np
import pytest
from forked_runs import TORCH, run_forked
from real_runs import ROOT, environment

from autograder.reading.files import read_files

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "13_shard"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "shard_steps.py"
FEW = ("--epochs", "1", "--windows", "24", "--batch-size", "2")
BY_HAND = ("zero1", "zero2", "zero3")
WAYS = ("ddp", *BY_HAND, "fsdp")
LOADED = (*TORCH, "torch.distributed.fsdp", "torch.distributed.checkpoint")
STEPS_ON = (1, 3)  # ranks
VARIANTS = {
    "fsdp": ("train.py", "--ways", "fsdp", "--save", "checkpoint"),
    "library": ("train.py", "--ways", "zero2", "--reduce-scatter", "library"),
    "mixed": ("train.py", "--ways", "fsdp", "--policy", "mixed"),
    "recompute": ("train.py", "--ways", "fsdp", "--recompute"),
}


def runs_in(folder):
    return {run.header["source"]: run for run in read_files([folder / "job.out"])}


def measured(run, name):
    [found] = [m for m in run.measures if m["name"] == name]
    return found["value"]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Return name -> folder of a job."""
    root = tmp_path_factory.mktemp("jobs")
    ways = ("train.py", "--ways", *WAYS, "--save", "checkpoint")
    asked = {
        2: VARIANTS,
        3: {"ways": ways, "2 to 3": ("load.py", "--save", f"{root}/fsdp/checkpoint")},
        1: {"3 to 1": ("load.py", "--save", f"{root}/ways/checkpoint")},
    }
    starts = {
        ranks: [(root / name, LESSON / program, *words, *FEW)
                for name, (program, *words) in named.items()]
        for ranks, named in asked.items()
    }  # fmt: skip
    for ranks in STEPS_ON:
        starts[ranks].append((root / f"steps {ranks}", STEPS, "out.npz"))
    return {folder.name: folder for folder in run_forked(*starts.items(), loaded=LOADED)}


@pytest.fixture(scope="module")
def runs(jobs):
    """Return way -> run on three ranks."""
    return runs_in(jobs["ways"])


@pytest.fixture(scope="module")
def variants(jobs):
    """Return name -> run on two ranks."""
    return {name: next(iter(runs_in(jobs[name]).values())) for name in VARIANTS}


@pytest.mark.parametrize("ranks", STEPS_ON)
def test_every_way_gives_the_parameters_of_the_serial_network(ranks, jobs):
    found = dict(np.load(jobs[f"steps {ranks}"] / "out.npz"))
    serial = found.pop("serial")
    assert len(found) == 8
    for params in found.values():
        np.testing.assert_allclose(params, serial, rtol=0, atol=1e-10)


def test_ranks_hold_their_share(runs):
    for way, run in runs.items():
        assert run.outcome == "completed"
        assert measured(run, "serial_error") < 1e-10
        assert measured(run, "held_over_share") == pytest.approx(1, abs=0.02), way
        assert run.end["param_spread"] == 0
        assert run.end["param_moved"] > 0
    for way in ("ddp", *BY_HAND):
        assert measured(runs[way], "memory_error") < 0.02
    peaks = {way: measured(run, "peak_bytes") for way, run in runs.items()}
    assert peaks["ddp"] > peaks["zero1"] > peaks["zero2"] > peaks["zero3"]
    assert peaks["fsdp"] < peaks["zero2"]


def test_ranks_send_what_a_ring_has_to(runs):
    times = {way: measured(run, "times_params") for way, run in runs.items()}
    ring = 2 / 3  # of three ranks
    for way in ("ddp", "zero1", "zero2"):
        assert 2 * ring < times[way] < 1.1 * 2 * ring
    assert 3 * ring < times["zero3"] < 1.1 * 3 * ring


def test_recomputing_blocks_leaves_less_behind(runs, variants):
    kept = {measured(run, "activation_bytes") for run in (*runs.values(), variants["fsdp"])}
    assert max(kept) < 1.1 * min(kept)
    assert 0 < measured(variants["recompute"], "activation_bytes") < min(kept) / 2


def test_gloos_reduce_scatter_sends_as_much_as_an_allreduce(variants):
    allreduce_and_gather = 3 / 2  # of the parameters, on two ranks
    times = measured(variants["library"], "times_params")
    assert allreduce_and_gather < times < 1.1 * allreduce_and_gather


@pytest.mark.parametrize(("wrote", "reads"), [(3, 1), (2, 3)])
def test_a_checkpoint_is_read_by_another_number_of_ranks(wrote, reads, jobs, runs, variants):
    written = {2: variants, 3: runs}[wrote]["fsdp"]
    assert measured(written, "ranks_wrote") == wrote
    assert measured(written, "largest_share") < 1.3 / wrote
    read = runs_in(jobs[f"{wrote} to {reads}"])["load"]
    assert read.test_loss.value == pytest.approx(written.test_loss.value, abs=1e-6)
    assert measured(read, "next_loss") == pytest.approx(measured(written, "next_loss"), abs=1e-4)
    hashes = {rank.param_hash for rank in (*read.ranks, *written.ranks)}
    assert len(hashes) == 1


def test_blocks_in_bfloat16_send_less_and_blocks_computed_twice_keep_less(variants):
    float32, mixed, twice = (variants[name] for name in ("fsdp", "mixed", "recompute"))
    assert measured(mixed, "times_params") < 0.85 * measured(float32, "times_params")
    assert 1e-6 < measured(mixed, "serial_error") < 1
    assert measured(twice, "serial_error") < 1e-10
    assert measured(twice, "peak_bytes") < measured(float32, "peak_bytes")


@pytest.mark.parametrize("program", ["train.py", "break_it.py"])
def test_too_few_windows_for_a_step_end_with_one_sentence(program, tmp_path):
    words = [sys.executable, LESSON / program, "--windows", "7"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    found = (done.returncode, done.stderr.splitlines()[-1:])
    assert found == (1, ["--windows 7: one step reads 1 × 8"])
