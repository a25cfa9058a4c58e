"""The roster of tests on manifest.csv, and the points of a graded class."""

import pytest

from tests.autograder.submissions.downloads import ROSTER


@pytest.fixture
def roster(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    return ("--roster", tmp_path / "roster.csv")


@pytest.fixture
def points():
    """Return a function from a graded class to (student, lesson) -> points."""
    return lambda result: {(line[0], line[1]): line[2] for line in result.table}
