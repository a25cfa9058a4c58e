"""Lesson 02's programs on the real MNIST: what the lesson promises they reach."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.reading.files import read_files

pytestmark = pytest.mark.slow
LESSON = Path(__file__).parents[3] / "solutions" / "02_serial"


def run(program: str, *arguments: str, out: Path):
    """The run record of one of the lesson's programs."""
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


@pytest.mark.parametrize(
    ("program", "arguments", "accuracy"),
    [
        ("train.py", ["--epochs", "2"], 0.97),
        ("train_torch.py", ["--epochs", "2"], 0.97),
        ("train.py", ["--model", "cnn", "--epochs", "1", "--train-samples", "6400"], 0.92),
    ],
)
def test_accuracy_on_the_whole_test_set(program, arguments, accuracy, tmp_path):
    found = run(program, *arguments, out=tmp_path)
    assert found.outcome == "completed"
    assert found.header["params"] == (1199882 if "cnn" in arguments else 407050)
    if not found.header.dataset.synthetic:
        assert found.test_accuracy.value >= accuracy
