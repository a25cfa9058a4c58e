"""Tests of measurements of ranks from outside: images by their pixels, and listed folders."""

import glob
import os
from pathlib import Path

import numpy as np
import pytest

from lessons.toolkit.ranks import images_apart, looking

RNG = np.random.default_rng(1)
X = RNG.integers(0, 256, (20, 4, 4)).astype(np.float32) / 255
Y = RNG.integers(0, 10, 20)
X[19], Y[19] = X[18], Y[18]  # a set may have an image twice
OTHER = np.zeros((1, 4, 4), np.float32)

SHARES = [  # what each rank reads; twice, missing, foreign
    ("each image once", [(X[:10], Y[:10]), (X[10:], Y[10:])], (0, 0, 0)),
    ("as bytes and back", [(np.uint8(np.round(X * 255)) / np.float32(255), Y)], (0, 0, 0)),
    ("all on both", [(X, Y), (X, Y)], (20, 0, 0)),
    ("the same on both", [(X[:10], Y[:10])] * 2, (10, 10, 0)),
    ("some never", [(X[:5], Y[:5]), (X[10:], Y[10:])], (0, 5, 0)),
    ("another label", [(X, np.where(np.arange(20) == 3, Y + 1, Y))], (0, 1, 1)),
    ("another image", [(np.concatenate([X, OTHER]), np.append(Y, 0))], (0, 0, 1)),
    ("nothing on one", [(X, Y), (X[:0], Y[:0])], (0, 0, 0)),
]


@pytest.mark.parametrize(("name", "shares", "found"), SHARES)
def test_images_are_told_by_what_they_show(name, shares, found):
    from lessons.toolkit.ranks.images import names

    every = [names(*share) for share in shares]

    def everyone(own):
        assert any(np.array_equal(own, each) for each in every)
        return every

    told = images_apart(shares[0], (X, Y), everyone)
    assert [told[f"images_{kind}"] for kind in ("twice", "missing", "foreign")] == [*found]


LOOKS = {
    "os.listdir": (os.listdir, True),
    "os.scandir": (lambda folder: list(os.scandir(folder)), True),
    "iterdir": (lambda folder: list(Path(folder).iterdir()), True),
    "glob": (lambda folder: glob.glob(f"{folder}/*.npz"), True),
    "below": (lambda folder: os.listdir(f"{folder}/below"), True),
    "above": (lambda folder: os.listdir(Path(folder).parent), False),
    "a name alike": (lambda folder: os.listdir(f"{folder}s"), False),
    "nothing": (lambda folder: None, False),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_into_a_folder_is_heard(name, tmp_path, monkeypatch):
    (tmp_path / "part" / "below").mkdir(parents=True)
    (tmp_path / "parts").mkdir()
    monkeypatch.chdir(tmp_path)
    look, heard = LOOKS[name]
    for folder in ("part", tmp_path / "part"):
        with looking(folder) as looks:
            look(folder)
        assert bool(looks) == heard
        os.listdir("part")  # afterwards nobody listens
        assert bool(looks) == heard
