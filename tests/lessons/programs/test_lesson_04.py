"""Tests of lesson 04's program on real files and packs."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT

from autograder.reading.files import read_files
from lessons.toolkit import data

LESSON = ROOT / "solutions" / "04_feeding"
SMALL = ["--train-samples", "6400", "--size", "32", "--batch-size", "64", "--buffer", "512"]
SMALL += ["--epochs", "5"]
INPUT = ["--source", "files", "packs", "memory", "--compute-ms", "0"]


def started(folder, *arguments):
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        [sys.executable, "-u", folder / "train.py", *arguments],
        cwd=folder, env=environ, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def runs(folder, output, *arguments):
    """Return the program's runs in this folder, and keep its output there."""
    done = started(folder, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    (folder / output).write_text(done.stdout)
    return {run.header["source"]: run for run in read_files([folder / output])}


def program(folder, *changes):
    for name in ("train.py", "sources.py", "input_only.py"):
        shutil.copy(LESSON / name, folder)
    for name, old, new in changes:
        text = (folder / name).read_text()
        assert text.count(old) == 1, old
        (folder / name).write_text(text.replace(old, new))


def measures(run, name):
    return [m["value"] for m in run.measures if m["name"] == name]


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """Make the solution's folder with its runs' outputs and the files that they read."""
    folder = tmp_path_factory.mktemp("right")
    program(folder)
    found = runs(folder, "04_feeding_1.out", *INPUT, *SMALL)
    wait = 1000 * found["files"].epochs[-1].seconds.value / 100
    balanced = ["--source", "files", "--compute-ms", f"{wait:.1f}", *SMALL]
    return folder, found | runs(folder, "04_feeding_2.out", *balanced), balanced


@pytest.mark.slow
def test_every_source_gives_each_sample_once_in_an_order_that_is_new(right):
    _, found, _ = right
    assert set(found) == {"files", "packs", "memory", "files-ahead"}
    for run in found.values():
        assert run.outcome == "completed"
        assert [epoch.unique_samples for epoch in run.epochs] == [6400] * 5
        assert [epoch.steps for epoch in run.epochs] == [100] * 5
        assert len(measures(run, "order_kept")) == 4
        assert all(abs(kept) < 0.8 for kept in measures(run, "order_kept"))


@pytest.mark.slow
def test_files_and_packs_hold_the_images_and_labels(right):
    folder, _, _ = right
    cifar = data.load("cifar10", 6400, 1, as_float=False)
    packs, files = (
        sorted((folder / "data" / "input").glob(f"*_{source}*/*.bin"))
        for source in ("packs", "files")
    )
    assert (len(packs), len(files)) == (32, 6400)
    together = [b"".join(path.read_bytes() for path in paths) for paths in (packs, files)]
    assert together[0] == together[1]
    rows = np.frombuffer(together[0], np.uint8).reshape(6400, 3077)
    assert (rows[:, :4].copy().view("<i4")[:, 0] == np.arange(6400)).all()
    assert (rows[:, 4] == cifar.y_train).all()
    assert (rows[:, 5:].reshape(cifar.x_train.shape) == cifar.x_train).all()


@pytest.mark.slow
def test_a_network_learns_from_packs_as_from_arrays(right):
    """The network gets each label with its image, with and without cache and prefetch."""
    folder, _, _ = right
    words = ["--model", "cnn", *SMALL, "--epochs", "2", "--lr", "0.05", "--batch-size", "32"]
    more = ["--test-samples", "1000", "--cache", "--no-prefetch"]
    run = runs(folder, "net.txt", *words, *more)["keras-packs"]
    assert run.test_accuracy.value > 0.25  # of ten classes; labels of other images give 0.1


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_one_sentence(right, tmp_path):
    folder, _, _ = right
    (tmp_path / "file").touch()
    done = started(folder, *INPUT, *SMALL, "--folder", str(tmp_path / "file"))
    assert done.returncode == 1
    assert "choose another folder" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
