"""Planted mistakes in lesson 09's sweep, run for real and handed in: the grader names the check."""

import os
import shutil
import subprocess
import sys

import pytest
from real_runs import ROOT, grade, lost

pytestmark = pytest.mark.slow
LESSON = ROOT / "solutions" / "09_learning_rate"
FILES = ("train.py", "rates.py", "network.py", "ml_comm.py")

EIGHT = ("--workers", "1", "8", "--rules", "same", "linear", "--seeds", "1")
WARM = ("--workers", "16", "--rules", "linear", "--seeds", "1", "--warmup", "1", "--decay")
WARM += ("cosine",)
RATE = '{"same": 1, "sqrt": math.sqrt(workers), "linear": workers}[rule]'

# file, what stands there, what a student wrote, the arguments, the check that has to see it
PLANTED = {
    "rate scaled and gradients summed: N²": (
        "train.py", "len(batch) / size)", "len(batch) / size / workers)", EIGHT, "linear",
    ),
    "rate not scaled at all": ("rates.py", f"lr * {RATE}", "lr", EIGHT, "linear"),
    "rate divided by N": (
        "rates.py", '"linear": workers}', '"linear": 1 / workers}', EIGHT, "linear",
    ),
    "warm-up in epochs of the small batch: longer than the run": (
        "train.py", "round(args.warmup * per_epoch)",
        "round(args.warmup * len(x_train) / args.batch_size)", WARM, "schedule",
    ),
    "warm-up from 0": (
        "rates.py", "base + (peak - base) * step / warmup", "peak * step / warmup",
        WARM, "schedule",
    ),
    "decay counted from the first step": (
        "rates.py", "(step - warmup) / (total - warmup)", "step / total", WARM, "schedule",
    ),
    "decay forgotten": ("rates.py", 'if decay == "cosine"', "if False", WARM, "schedule"),
    "another rate in the record than in the update": (
        "train.py", 'record.measure("lr", lr,', 'record.measure("lr", args.lr,', WARM, "schedule",
    ),
    "momentum left on": (
        "train.py", 'momentum", type=float, default=0.0', 'momentum", type=float, default=0.9',
        EIGHT, "linear",
    ),
}  # fmt: skip


def graded(folder, arguments, change=None):
    """The checks that lose points with the output of this program."""
    (folder / "you").mkdir(parents=True)
    for name in FILES:
        shutil.copy(LESSON / name, folder)
    if change:
        name, old, new = change
        source = (folder / name).read_text(encoding="utf-8")
        assert source.count(old) == 1
        (folder / name).write_text(source.replace(old, new), encoding="utf-8")
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = ["timeout", "120", sys.executable, "-u", "train.py", "--train-samples", "12800"]
    with (folder / "you" / "09_sweep_1.out").open("w") as sink:
        subprocess.run([*command, *arguments], cwd=folder, env=environ, stdout=sink, check=True)
    return lost(grade(folder / "you", "09"))


@pytest.mark.parametrize(("arguments", "check"), [(EIGHT, "linear"), (WARM, "schedule")])
def test_the_solution_loses_nothing_there(arguments, check, tmp_path):
    assert check not in graded(tmp_path / "run", arguments)


@pytest.mark.parametrize("mistake", PLANTED)
def test_the_grader_names_what_a_planted_mistake_broke(mistake, tmp_path):
    *change, arguments, check = PLANTED[mistake]
    assert check in graded(tmp_path / "run", arguments, change)


def test_a_warm_up_longer_than_the_run_is_not_the_asked_for_one(tmp_path):
    longer = [*WARM[:-3], "9", *WARM[-2:]]
    assert "schedule" in graded(tmp_path / "run", longer)


@pytest.mark.parametrize("seeds", [["1", "2"], ["1"]])
def test_one_seed_is_no_sweep(seeds, tmp_path):
    everything = ["--workers", "1", "8", "16", "64", "--epochs", "3", "--seeds", *seeds]
    assert ("sweep" in graded(tmp_path / "run", everything)) == (len(seeds) == 1)
