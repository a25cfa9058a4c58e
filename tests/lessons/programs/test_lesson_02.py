"""Lesson 02's programs on the real MNIST: what the lesson promises they reach."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.reading.files import read_files

pytestmark = pytest.mark.slow
LESSON = Path(__file__).parents[3] / "solutions" / "02_serial"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]


def run(program: str, *arguments: str, launcher: tuple[str, ...] = (), out: Path):
    """The run record of one of the lesson's programs."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    command = [*launcher, sys.executable, "-u", str(LESSON / program), *arguments]
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
    if not found.header["dataset"]["synthetic"]:
        assert found.test_accuracy.value >= accuracy


@pytest.mark.ranks
@pytest.mark.parametrize("program", ["train_horovod.py", "train_torch_horovod.py"])
def test_two_ranks_share_the_data_and_end_alike(program, tmp_path):
    sizes = ["--train-samples", "6401", "--epochs", "2"]  # an odd number: one sample is left out
    found = run(program, *sizes, launcher=tuple(MPIRUN), out=tmp_path)
    assert found.outcome == "completed"
    assert found.workers == 2
    assert [rank.samples for rank in found.ranks] == [3200, 3200]
    shares = [set(range(*rank.shard)) for rank in found.ranks]
    assert not shares[0] & shares[1]
    assert shares[0] | shares[1] == set(range(6400))
    assert found.end["param_spread"] == 0.0
    assert len({rank.param_hash for rank in found.ranks}) == 1
    assert found.header["lr"] == 2 * found.header["lr_base"]
    assert [epoch.steps for epoch in found.epochs] == [100, 100]
