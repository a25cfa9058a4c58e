"""Lesson 09's sweep on the real MNIST (COURSE_DATA_STRICT): what the lesson says."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import mean

import pytest

from autograder.read import read_files

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).parents[2] / "solutions" / "09_learning_rate" / "train.py"


def sweep(folder, *arguments, ranks=1):
    launcher = ["timeout", "300", "mpirun", "--allow-run-as-root", "--oversubscribe", "-np"]
    command = [*launcher, str(ranks), sys.executable, "-u", str(PROGRAM)]
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environ["COURSE_DATA_STRICT"] = "1"
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    output = folder / f"{len(list(folder.iterdir()))}.out"
    with output.open("w") as sink:
        command += ["--train-samples", "12800", *arguments]
        subprocess.run(command, cwd=folder, env=environ, stdout=sink, check=True)
    return read_files([output])


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    found = {}
    for run in sweep(tmp_path_factory.mktemp("sweep")):
        assert run.outcome == "completed"
        key = (run.header["workers"], run.header["rule"])
        found.setdefault(key, []).append(run.test_accuracy.value)
    return {key: mean(values) for key, values in found.items()}


def test_up_to_eight_workers_the_linear_rule_keeps_the_accuracy(accuracies):
    base = accuracies[1, "same"]
    assert accuracies[8, "linear"] >= base - 0.02
    assert accuracies[8, "same"] < accuracies[8, "sqrt"] < accuracies[8, "linear"]


def test_at_sixteen_it_needs_a_warm_up(accuracies, tmp_path):
    assert accuracies[16, "linear"] < 0.7
    options = ["--workers", "16", "--rules", "linear", "--warmup", "1", "--decay", "cosine"]
    for run in sweep(tmp_path, *options):
        assert run.test_accuracy.value >= accuracies[16, "linear"] + 0.1


@pytest.mark.ranks
def test_ranks_do_not_change_the_sweep(tmp_path):
    options = ["--workers", "8", "--rules", "linear", "--seeds", "1", "--epochs", "1"]
    [one], [two] = (sweep(tmp_path, *options, ranks=ranks) for ranks in (1, 2))
    assert two.workers == 2
    assert two.test_accuracy.value == pytest.approx(one.test_accuracy.value, abs=0.003)
