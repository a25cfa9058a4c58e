"""Tests of lesson 08's program on real ranks: shares, steps, errors."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT, environment, run, run_together

from autograder.reading.files import read_files
from lessons.toolkit.plots import shares_of

LESSON = ROOT / "solutions" / "08_data"
FLOAT64 = ROOT / "tests" / "lessons" / "ranks" / "in_float64.py"


def make_parts(folder, samples, parts):
    subprocess.run(
        [sys.executable, LESSON / "make_parts.py", "--train-samples", str(samples),
         "--parts", str(parts)],
        cwd=folder, check=True, timeout=120, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip


THREE = ("--epochs", "3")


@pytest.fixture(scope="module")
def on_two_ranks(tmp_path_factory):
    """Return (parts, samples) -> the record of two ranks, which start only once."""
    folders = {
        (8, 1600): tmp_path_factory.mktemp("even"),
        (7, 1601): tmp_path_factory.mktemp("odd"),
    }
    for (parts, samples), folder in folders.items():
        make_parts(folder, samples, parts)
    starts = [(folder, LESSON / "train.py", THREE) for folder in folders.values()]
    return dict(zip(folders, run_together(2, starts), strict=True))


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("parts", "samples", "each", "steps"),
    [
        (8, 1600, [800, 800], 25),
        (7, 1601, [915, 686], 22),
    ],
)
def test_each_rank_reads_files_of_its_own(parts, samples, each, steps, on_two_ranks):
    found = on_two_ranks[parts, samples]
    assert found.outcome == "completed"
    shares = [set(share) for share in shares_of(found)]
    assert sum(map(len, shares)) == len(set().union(*shares)) == samples
    assert [rank.samples for rank in found.ranks] == each
    assert [epoch.steps for epoch in found.epochs] == [steps] * 3
    assert found.end["param_spread"] == 0.0
    told = {measure["name"]: measure["value"] for measure in found.measures}
    kinds = ("images_twice", "images_missing", "images_foreign", "ranks_that_looked")
    assert [told[kind] for kind in kinds] == [0, 0, 0, 1]
    assert [sum(rank.labels) for rank in found.ranks] == each
    assert found.header["lr"] == pytest.approx(2 * 0.001)


@pytest.mark.slow
@pytest.mark.ranks
def test_parameters_of_four_ranks_are_those_of_one_that_reads_all(tmp_path):
    """Train in float64 on seven files, of which the last rank has one, so weights matter, too.

    An epoch is one step of all images, whatever their order. The rate is the same on all ranks.
    """
    make_parts(tmp_path, 350, 7)
    ended = {}
    for ranks in (1, 4):
        words = ["--epochs", "5", "--batch-size", "350", "--lr", str(0.001 / ranks)]
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
        command = [*mpirun, sys.executable, FLOAT64, f"{ranks}.npy", LESSON / "train.py", *words]
        done = subprocess.run(
            ["timeout", "240", *map(str, command)],
            cwd=tmp_path, env=environment(), capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        (tmp_path / f"{ranks}.out").write_text(done.stdout)
        [found] = read_files([tmp_path / f"{ranks}.out"])
        assert [rank.samples for rank in found.ranks] == {1: [350], 4: [100, 100, 100, 50]}[ranks]
        assert [epoch.steps for epoch in found.epochs] == [1] * 5
        assert found.end["param_spread"] == 0.0
        ended[ranks] = np.load(tmp_path / f"{ranks}.npy")
    moved = found.end["param_moved"]
    assert moved > 1e-3
    np.testing.assert_allclose(ended[4], ended[1], rtol=0, atol=1e-6 * moved)


@pytest.mark.slow
@pytest.mark.ranks
def test_a_missing_folder_ends_all_ranks_with_one_message(tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "train.py", 2, "--folder", "data/nowhere", out=tmp_path)
    assert str(failed.value).count("***** Fatal error") == 1
    assert "data/nowhere" in str(failed.value)
    assert "Traceback" not in str(failed.value)


@pytest.mark.parametrize(
    ("counts", "batch"),
    [([97, 128], 32), ([128, 97], 32), ([64, 64], 32), ([33, 40, 65], 32), ([5], 2), ([3, 9], 32)],
)
def test_every_image_of_the_last_batch_counts_alike(counts, batch):
    """The weighted average of the ranks' means is the mean over all images of the step."""
    source = (LESSON / "train.py").read_text()
    functions = source[source.index("def common_steps") : source.index("def batches_of")]
    known = {"math": math}
    exec(functions, known)  # without Horovod, which knows one number of ranks only
    steps = known["common_steps"](counts, batch)
    last = [min(batch, count - (steps - 1) * batch) for count in counts]
    images = [np.random.default_rng(rank).random(n) for rank, n in enumerate(last)]
    means = [part.mean() * known["last_weight"](counts, batch, rank)
             for rank, part in enumerate(images)]  # fmt: skip
    assert np.mean(means) == pytest.approx(np.concatenate(images).mean(), rel=1e-12)
    if len(set(last)) > 1:
        plain = np.mean([part.mean() for part in images])
        assert plain != pytest.approx(np.concatenate(images).mean(), rel=1e-3), "it matters"
