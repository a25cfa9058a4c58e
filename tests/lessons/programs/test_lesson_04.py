"""Tests of lesson 04's files and packs, and of a network that learns from packs.

The lesson's own jobs are graded for what all sources give (test_every_lesson.py).
"""

from pathlib import Path

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit import data

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sources():
    return program("04_feeding", "sources")


def test_files_and_packs_hold_the_images_and_labels(sources, tmp_path):
    cifar = data.load("cifar10", 641, 1, as_float=False)
    packs, files = (
        [Path(name).read_bytes() for name in sources.names_of(source, cifar, tmp_path)]
        for source in ("packs", "files")
    )
    assert (len(packs), len(files)) == (32, 641)
    assert {len(pack) // sources.RECORD for pack in packs} == {20, 21}
    together = b"".join(packs)
    assert together == b"".join(files)
    rows = np.frombuffer(together, np.uint8).reshape(641, 3077)
    assert (rows[:, :4].copy().view("<i4")[:, 0] == np.arange(641)).all()
    assert (rows[:, 4] == cifar.y_train).all()
    assert (rows[:, 5:].reshape(cifar.x_train.shape) == cifar.x_train).all()


def test_a_folder_that_cannot_be_written_is_one_sentence(sources, tmp_path):
    (tmp_path / "file").touch()
    cifar = data.load("cifar10", 32, 1, as_float=False)
    for source in ("packs", "files"):
        with pytest.raises(SystemExit, match=r"file: Not a directory; choose another folder$"):
            sources.names_of(source, cifar, tmp_path / "file")
