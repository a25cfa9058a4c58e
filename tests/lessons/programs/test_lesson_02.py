"""Tests of lesson 02's programs: what the lesson promises on the real MNIST."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.reading.files import read_files

pytestmark = pytest.mark.slow
LESSON = Path(__file__).parents[3] / "solutions" / "02_serial"


def run(program: str, *arguments: str, out: Path):
    """Return the run record of one of the lesson's programs."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    command = [sys.executable, "-u", str(LESSON / program), *arguments]
    with (out / "job.out").open("w") as sink:
        done = subprocess.run(
            command, env=env, stdout=sink, stderr=subprocess.PIPE, text=True, timeout=600
        )
    assert done.returncode == 0, done.stderr[-2000:]
    [found] = read_files([out / "job.out"])
    return found


def test_accuracy_of_the_convolutional_network_on_the_whole_test_set(tmp_path):
    """The other network's accuracy is graded wherever the lesson runs."""
    small = ("--epochs", "1", "--train-samples", "3200")
    found = run("train.py", "--model", "cnn", *small, out=tmp_path)
    assert found.outcome == "completed"
    assert found.header["params"] == 1199882
    if not found.header.dataset.synthetic:
        assert found.test_accuracy.value >= 0.92
