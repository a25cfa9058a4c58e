"""The headings of the pages."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.commands.options import COURSE
from autograder.report.back.packed import of_lesson
from autograder.report.back.records import read_class
from autograder.settings.rubric import FOLDER
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in


def grade(folder, *words):
    command = ["grade", folder / "class", "--out", folder / "grades", *words]
    command += ["--profile", "full"]
    result = CliRunner().invoke(main, [*map(str, command)])
    assert result.exit_code in (0, 1), result.output
    pages = [folder / "grades/index.html", *(folder / "grades/students").glob("*.html")]
    return [page.read_text() for page in pages]


@pytest.fixture
def ours(tmp_path):
    """Copy our rubrics into somebody else's folder, and submit a lesson."""
    shutil.copytree(FOLDER, tmp_path / "rubrics")
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    return tmp_path


def test_pages_are_headed_with_the_title(ours):
    own = ("--rubrics", ours / "rubrics")
    for words, heading in (
        ((), COURSE),
        (own, "Grades"),
        ((*own, *setting("title", "HPC <2026>")), "HPC &lt;2026&gt;"),
        (setting("title", "HPC"), "HPC"),
    ):
        for page in grade(ours, *words):  # graded again each time, because only the title changed
            assert f'<p class="dim">{heading}</p>' in page


def test_feedback_has_the_title_of_the_grades(ours):
    grade(ours, *setting("title", "HPC"))
    folder = ours / "grades"
    page = of_lesson(Path("02.csv"), read_class(folder), {}).files("ada")["feedback-02.html"]
    assert '<p class="dim">HPC</p>' in page
