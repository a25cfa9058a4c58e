"""Tests of a user's data sets: the real files if COURSE_DATA has them, else generated ones.

What is asserted holds for both; what only the real files have is asserted where they are.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from lessons.toolkit import data
from lessons.toolkit.data import catalogue, files

GIVEN = os.environ.get("COURSE_DATA")
FIRST_LABELS = {"mnist": [5, 0, 4, 1, 9], "cifar10": [6, 9, 9, 4, 1]}


@pytest.fixture(params=["mnist", pytest.param("cifar10", marks=pytest.mark.slow)])
def name(request, world, tmp_path, monkeypatch) -> str:
    """Return a data set in the folder COURSE_DATA: the real one if there is one."""
    monkeypatch.setenv("COURSE_DATA", str(world.lay_out(tmp_path / "generated")))
    if GIVEN:
        with monkeypatch.context() as real:
            real.delenv("COURSE_CATALOGUE")
            entry = catalogue.entry(request.param)
            have_it = len(files.find(entry, [Path(GIVEN)])) == len(entry.files)
        if have_it:
            monkeypatch.delenv("COURSE_CATALOGUE")
            monkeypatch.setenv("COURSE_DATA", GIVEN)
    return request.param


@pytest.mark.slow
def test_the_set_is_whole_and_balanced_and_its_first_samples_hold_every_class(name, tmp_path):
    entry = catalogue.entry(name)
    loaded = data.load(name, as_float=False, stand_in=False)
    for split in ("train", "test"):
        x, y = getattr(loaded, f"x_{split}"), getattr(loaded, f"y_{split}")
        samples = getattr(entry, f"{split}_samples")
        assert (x.shape, x.dtype) == ((samples, *entry.image), np.uint8)
        assert (y.shape, y.dtype) == ((samples,), np.int64)
        # MNIST's classes differ by a quarter, CIFAR-10's not at all.
        counts = np.bincount(y, minlength=10)
        assert counts.min() > 0.85 * samples / 10
        assert counts.max() < 1.15 * samples / 10
        if name == "cifar10":
            assert set(counts) == {samples // 10}
    assert loaded.facts["sha256"] == entry.sha256
    if entry.train_samples >= 50000:  # the real ones
        assert loaded.y_train[:5].tolist() == FIRST_LABELS[name]
    first = data.load(name, train_samples=100, stand_in=False)
    assert set(first.y_train) == set(range(10))
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)  # 186 MB
