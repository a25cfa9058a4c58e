"""Planted mistakes in lesson 06, run on two ranks and handed in: the grader names the check."""

import csv
import shutil

import pytest
from click.testing import CliRunner
from test_lesson_06 import PLANTED, SHOWS_IN_SPREAD, trained

from autograder.cli import main

pytestmark = [pytest.mark.ranks, pytest.mark.slow]


def points_lost(output, folder):
    """The checks of which a submission with this output did not get all points."""
    submission = folder / "submissions" / "student" / "06_allreduce"
    submission.mkdir(parents=True)
    shutil.copy(output, submission / "06_train_1.out")
    arguments = ["grade", str(folder / "submissions"), "--profile", "smoke"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(folder / "grades")])
    assert result.exit_code in (0, 1), result.output  # 1: something for a person to look at
    with (folder / "grades" / "checks.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert rows
    return {row["check"] for row in rows if float(row["score"]) < float(row["points"])}


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    trained(1, folder)
    return folder


@pytest.mark.parametrize("mistake", [None, *PLANTED])
def test_the_grader_names_what_a_planted_mistake_broke(mistake, serial, tmp_path):
    for file in serial.glob("serial_*.npy"):
        shutil.copy(file, tmp_path)
    run = trained(2, tmp_path, change=PLANTED.get(mistake, ()))
    lost = points_lost(run.files[0], tmp_path)
    assert ("as-serial" in lost) == (mistake is not None)
    assert ("spread" in lost) == (mistake in SHOWS_IN_SPREAD)
