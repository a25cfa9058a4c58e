"""Tests of measurements of ranks from outside: images by their pixels, and listed folders."""

import glob
import os
from pathlib import Path

import numpy as np
import pytest

from lessons.toolkit.ranks import compare_images, looking, probe_steps


class Notes:
    """A record that keeps its measures."""

    def __init__(self):
        self.found = {}

    def measure(self, name, value, unit, **point):
        self.found[name, *point.values()] = value


class Comm:
    """A communicator with all ranks' rows, made beforehand."""

    def __init__(self, rows):
        self.rows = rows

    def allgather(self, row):
        assert any(np.array_equal(row, each) for each in self.rows)
        return self.rows


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

    record = Notes()
    comm = Comm([names(*share) for share in shares])
    compare_images(record, shares[0], (X, Y), comm)
    told = [record.found[f"images_{kind}",] for kind in ("twice", "missing", "foreign")]
    assert tuple(told) == found


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


def test_steps_are_tried_on_ranks_with_unlike_numbers_of_images():
    record = Notes()
    probe_steps(record, lambda counts, batch: min(-(-count // batch) for count in counts))
    assert record.found == {
        ("common_steps", "3200 and 2400"): 75,
        ("common_steps", "101 and 100"): 4,
    }
