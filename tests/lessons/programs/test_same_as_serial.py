"""Tests that N ranks of lessons 07 to 09 give the parameters of one on the concatenated batch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from real_runs import environment, launch
from solution_programs import program

from autograder.reading.files import read_files
from lessons.toolkit import data
from lessons.toolkit.plots import shares_of

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

PROGRAMS = Path(__file__).parents[1] / "ranks" / "keras_float64.py"


def keras_programs(ranks, folder):
    """Return the parameters in float64 and the record of each program; 48 images in seven files."""
    write_parts = program("08_data", "make_parts").write_parts
    for name in ("cifar10", "mnist"):
        images = data.load(name, 48)
        write_parts(images.x_train, images.y_train, folder / name, 7)
    with (folder / "job.out").open("w") as sink:
        done = subprocess.run(
            ["timeout", "240", *launch(ranks, "mpirun"), sys.executable, "-u", PROGRAMS, folder],
            env=environment(), stdout=sink, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    records = read_files([folder / "job.out"])
    return [(np.load(folder / f"{number}.npy"), run) for number, run in enumerate(records)]


@pytest.fixture(scope="module")
def solo(tmp_path_factory):
    return keras_programs(1, tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.nightly)])
def test_keras_programs_end_with_the_parameters_of_one_rank_that_reads_all(ranks, solo, tmp_path):
    found = keras_programs(ranks, tmp_path)
    sources = [f"{run.header['lesson']} {run.header['source']}" for _, run in found]
    assert sources == ["07 keras-nodes", "08 keras-nodes", "08 keras-sharded", "09 keras-nodes"]
    for (params, record), (right, alone), source in zip(found, solo, sources, strict=True):
        np.testing.assert_allclose(params, right, rtol=0, atol=1e-9, err_msg=source)
        assert record.end["param_spread"] == 0.0
        assert alone.end["param_moved"] > 1e-3
        shares = [set(share) for share in shares_of(record)]
        assert sum(map(len, shares)) == len(set().union(*shares)) == 48
        assert [epoch.steps for epoch in record.epochs] == [1] * 3
