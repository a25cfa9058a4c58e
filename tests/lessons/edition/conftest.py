"""Fixtures: the release of this course, and a small course."""

from pathlib import Path

import pytest

from lessons.edition.release import gather

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def released():
    """Return the release of this course: name -> content."""
    return gather(ROOT)


@pytest.fixture
def small(course, lessons_command):
    """Return the small course with a rubric and an expected answer."""
    expected = course / "autograder" / "rubrics" / "expected"
    expected.mkdir(parents=True)
    lessons_command("build")
    (expected / "01.yaml").write_text("answer_of_everything: 42.5\n")
    (expected.parent / "01.yaml").write_text(
        "{lesson: '01', title: Small, points: 1, answers: {answer_of_everything: {ask: What?, "
        "kind: number}}, checks: [{id: a, title: A, points: 1, answers: [answer_of_everything]}]}"
    )
    lessons_command("build")
    (course / "pyproject.toml").write_text("")
    (course / "tests").mkdir()
    (course / "tests" / "test_x.py").write_text("")
    return course
