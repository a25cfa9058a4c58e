"""Tests of lesson 03's network in `nodes.py` of lessons 07 to 09, on real ranks."""

import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT, environment, run
from solution_programs import program

from autograder.reading.files import read_files
from lessons.toolkit import data
from lessons.toolkit.plots import shares_of

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSONS = ("07_horovod", "08_data", "09_learning_rate")
STEPS = ROOT / "tests" / "lessons" / "ranks" / "nodes_steps.py"


def trained(ranks, folder):
    """Return lesson -> parameters in float64, and record; 48 images, in seven files for 08."""
    cifar = data.load("cifar10", 48)
    program("08_data", "make_parts").write_parts(cifar.x_train, cifar.y_train, folder / "parts", 7)
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
    with (folder / "job.out").open("w") as sink:
        done = subprocess.run(
            ["timeout", "240", *mpirun, sys.executable, "-u", STEPS, folder],
            env=environment(), stdout=sink, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    records = {found.header["lesson"]: found for found in read_files([folder / "job.out"])}
    return {lesson: (np.load(folder / f"{lesson}.npy"), records[lesson[:2]]) for lesson in LESSONS}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return trained(1, tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize("ranks", [3])
def test_parameters_are_those_of_one_rank_that_reads_all(ranks, one, tmp_path):
    for lesson, (params, record) in trained(ranks, tmp_path).items():
        np.testing.assert_allclose(params, one[lesson][0], rtol=0, atol=1e-9, err_msg=lesson)
        assert record.end["param_spread"] == 0.0
        shares = [set(share) for share in shares_of(record)]
        assert sum(map(len, shares)) == len(set().union(*shares)) == 48
        assert [epoch.steps for epoch in record.epochs] == [1] * 3
        assert (record.header["model"], record.header["source"]) == ("cnn", "keras-nodes")


def test_what_cannot_be_is_one_sentence(tmp_path):
    program = ROOT / "solutions" / "07_horovod" / "nodes.py"
    with pytest.raises(AssertionError) as failed:
        run(program, 1, "--size", "16", "--train-samples", "0", out=tmp_path)
    said = "--size 16 --train-samples 0: at least 32 pixels, and an image for each rank"
    assert str(failed.value).count(said) == 1
    assert "Traceback" not in str(failed.value)
