"""Lesson 04's program on real files and packs, and what the grader says of mistakes in it."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from real_runs import ROOT, grade, grade_class, lost, points_of, run_one_by_one

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
    """The runs of the program in this folder; its output is kept beside it."""
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
    """The solution's folder with what its runs printed, and the files that they read."""
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
    """A cache or not, a prefetch or not: what the network gets is each label with its image."""
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


WRITE_FILES = "write_files(records, unfinished)"
ORDER = "default_rng([seed, epoch]).permutation(names)"
MISTAKES = {
    "none": ([], set()),
    "a pack is skipped": (
        [("sources.py", "np.array_split(records, packs)", "np.array_split(records, packs)[1:]")],
        {"whole-set"},
    ),
    "the packs in the same order each epoch": (
        [("sources.py", ORDER, "default_rng(seed).permutation(names)")],
        {"whole-set"},
    ),
    "cache behind shuffle, and always": (
        [
            ("train.py", "samples.shuffle(args.buffer)", "samples.shuffle(args.buffer).cache()"),
        ],
        {"whole-set", "packs-faster"},
    ),
    "files that are called packs": (
        [("sources.py", "write_packs(records, unfinished, PACKS)", WRITE_FILES)],
        {"packs-faster"},
    ),
    "half of each batch is left out": (
        [("train.py", ".batch(batch)", ".batch(batch).map(lambda x, y: (x[::2], y[::2]))")],
        {"whole-set"},
    ),
}  # fmt: skip


# Runs the program of a folder, with that folder's modules and not those of the one before.
IN_FOLDER = """
import os, runpy, sys
for name in ("sources", "input_only"):
    sys.modules.pop(name, None)
sys.path.insert(0, {folder!r})
os.chdir({folder!r})
runpy.run_path("train.py", run_name="__main__")
sys.path.remove({folder!r})
"""


@pytest.fixture(scope="module")
def grades(right, tmp_path_factory):
    """What the grader says of each mistake; TensorFlow is loaded once for all of them."""
    out, folder = tmp_path_factory.mktemp("mistakes"), tmp_path_factory.mktemp("graded")
    texts = {}
    for name, (changes, _) in MISTAKES.items():
        if changes:
            (out / name).mkdir()
            program(out / name, *changes)
            texts[name] = IN_FOLDER.format(folder=str(out / name))
    files = run_one_by_one(LESSON, texts, 1, *INPUT, *SMALL, out=out)
    files["none"] = right[0] / "04_feeding_1.out"
    second = right[0] / "04_feeding_2.out"
    class_ = {name: {"04_1.out": file, "04_2.out": second} for name, file in files.items()}
    return grade_class(class_, "04", folder)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, grades):
    assert lost(points_of(grades[mistake])) == MISTAKES[mistake][1]


@pytest.mark.slow
def test_the_grader_names_a_missing_prefetch_and_a_missing_source(right, tmp_path):
    """Without prefetch an epoch takes the sum; TensorFlow's own prefetch must not hide it."""
    line = "return batches.prefetch(4) if args.prefetch else batches"
    forgotten = ("train.py", line, "return batches")
    program(tmp_path, forgotten)
    folder = tmp_path / "you"
    folder.mkdir()
    runs(tmp_path, "04_feeding_2.out", *right[2])
    shutil.copy(tmp_path / "04_feeding_2.out", folder)
    lines = (right[0] / "04_feeding_1.out").read_text().splitlines(keepends=True)
    header = next(line for line in lines if '"source":"memory"' in line)
    memory = header.partition('"run":')[2][:10]
    (folder / "04_feeding_1.out").write_text("".join(line for line in lines if memory not in line))
    assert lost(grade(folder, "04")) == {"overlap", "whole-set", "sources"}
