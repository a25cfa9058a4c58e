"""Lesson 10's TensorFlow programs with real workers: what they promise, and what they refuse."""

import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT, environment

from autograder.reading.files import read_files

LESSON = ROOT / "solutions" / "10_native"
FLOAT64 = ROOT / "tests" / "lessons" / "ranks" / "in_float64.py"
GLOBAL = 96  # images of an update: for 1, 2 or 3 workers
WAYS = {"multiworker": ("train_multiworker.py", 0), "ps-synchronous": ("train_ps.py", 2)}


def trained(folder, way, workers):
    """The parameters after ten updates and the record, with so many workers."""
    program, others = WAYS[way]
    ranks = workers + others
    words = ["--train-samples", "960", "--epochs", "1", "--batch-size", str(GLOBAL // workers)]
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
    command = [*start, str(ranks), sys.executable, "-u", str(FLOAT64), "out.npy"]
    with (folder / "job.out").open("w") as out:
        done = subprocess.run(
            [*command, str(LESSON / program), *words],
            cwd=folder, env=environment(), stdout=out, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    [record] = read_files([folder / "job.out"])
    assert record.outcome == "completed"
    assert len(record.ranks) == record.workers == ranks
    assert [epoch.steps for epoch in record.epochs] == [10]
    assert [epoch.unique_samples for epoch in record.epochs] == [960]
    return np.load(folder / "out.npy"), record


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("alone"), "multiworker", 1)[0]


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("way", "workers"),
    [("multiworker", 2), ("multiworker", 3), ("ps-synchronous", 2), ("ps-synchronous", 3)],
)
def test_workers_give_the_parameters_of_one_on_the_whole_batch(way, workers, alone, tmp_path):
    params, record = trained(tmp_path, way, workers)
    np.testing.assert_allclose(params, alone, rtol=0, atol=1e-9)
    told = {each["name"]: each["value"] for each in record.measures}
    if way == "multiworker":
        assert record.end["param_spread"] == 0.0
        assert told["ranks_heard"] == workers
        assert len({rank.start_hash for rank in record.ranks}) == 1
    else:
        assert told["staleness_mean"] == 0.0
