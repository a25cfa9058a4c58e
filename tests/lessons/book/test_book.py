"""Tests of `lessons book` on a small course: its content, its messages, and its refusals."""

import re
import shutil

import pytest
from executed_lessons import leave_executed, printed, value

from lessons.book.withheld import ANSWERED

GLOSSARY = "# Glossary\n\n- **rank** (01): one of the processes.\n"
# Sphinx and its extensions tell each other what will change in a next version.
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Check CHANGES")
# One pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OUTPUTS = {
    "guess = 4": [printed("wrote /home/ada/runs/01_small/x.out\nthe answer is 42.5\n")],
    'check("1.1", double)': [printed("Exercise 1.1: right.\n")],
    'check("1.2", train': [value(plain="<Picture>", png=PIXEL)],
}


@pytest.fixture
def small(course, tmp_path):
    """Return the small course with pages, a question with its answer, and an executed lesson."""
    expected = course / "autograder" / "rubrics" / "expected"
    expected.mkdir(parents=True)
    (expected / "01.yaml").write_text("answer_of_everything: 42.5\n")
    docs = {"glossary": GLOSSARY, "for-students": "# Course\n\nSee [grading](grading.md#points).\n"}
    docs["README"] = "# All pages\n"
    docs["grading"] = "# Grading\n\n## Points\n\nLesson 01. [The list](schemas/a.json)\n"
    (course / "docs" / "schemas").mkdir(parents=True)
    (course / "docs" / "schemas" / "a.json").write_text("{}\n")
    for name, text in docs.items():
        (course / "docs" / f"{name}.md").write_text(text)
    leave_executed(course / "solutions" / "01_small", tmp_path / "runs", OUTPUTS)
    return course


@pytest.fixture
def book(lessons_command, tmp_path):
    def call(*options):
        return lessons_command(
            "book", "--from", tmp_path / "runs", "--out", tmp_path / "book", *options
        )

    return call


def words(page):
    """Return the visible text of the page."""
    text = re.sub(r"<(script|style).*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", "", text)
    return text.replace("&quot;", '"').replace("&#39;", "'").replace("&amp;", "&")


@pytest.mark.slow
def test_a_lesson_with_its_outputs_its_gaps_and_its_files(small, book, tmp_path):
    done = book()
    assert done.exit_code == 0, done.output
    assert "1 of 1 lessons have outputs" in done.output
    folder = tmp_path / "book" / "lessons" / "01_small"
    page = words(folder / "lesson.html")
    assert 'raise NotImplementedError("Predict: set guess to a number")' in page
    assert "return x + x" not in page
    assert "wrote lessons/01_small/x.out" in page
    assert ANSWERED in page
    assert "42.5" not in page
    assert "Executed on 2026-11-23" in page
    html = (folder / "lesson.html").read_text()
    assert html.count('<img alt="What this cell draws"') == 1
    for file in ("train.py", "small_checks.py", "job.sbatch"):
        assert f'href="{file}.html"' in html
    assert "Exercise 1.2: three times the number" in words(folder / "train.py.html")
    assert "total += x" not in words(folder / "train.py.html")
    assert "<title>train.py of lesson 01" in (folder / "train.py.html").read_text()
    contents = (tmp_path / "book" / "index.html").read_text()
    for page in ("docs/grading", "docs/glossary", "docs/for-students", "lessons/01_small/lesson"):
        assert f'href="{page}.html"' in contents


def not_executed(course, runs):
    shutil.rmtree(runs / "01_small")
    return "01_small was not executed: there is no"


def older_cell(course, runs):
    source = course / "solutions" / "01_small" / "lesson.py"
    source.write_text(source.read_text().replace("Double a number", "Double any number"))
    return "01_small was executed before lesson.py changed."


def older_program(course, runs):
    source = course / "solutions" / "01_small" / "train.py"
    source.write_text(source.read_text() + "# changed\n")
    return "01_small was executed before train.py changed."


@pytest.mark.slow
@pytest.mark.parametrize("happens", [not_executed, older_cell, older_program])
def test_a_lesson_without_a_run_of_its_own_is_named_and_shown_without_outputs(
    small, book, tmp_path, happens
):
    said = happens(small, tmp_path / "runs")
    done = book()
    assert done.exit_code == 1
    assert f"without outputs: {said}" in done.output
    page = words(tmp_path / "book" / "lessons" / "01_small" / "lesson.html")
    assert "This lesson was not executed for this book" in page
    assert "Exercise 1.1: right." not in page
    if happens is not_executed:
        assert book("--partial").exit_code == 0  # over the book that is there


@pytest.mark.slow
def test_a_solution_in_any_text_stops_the_book_and_leaves_the_old_one(small, book, tmp_path):
    assert book().exit_code == 0
    page = small / "docs" / "grading.md"
    page.write_text(page.read_text() + "\n    total = 0\n    for _ in range(3):\n"
                    "        total += x\n    return total\n")  # fmt: skip
    done = book()
    assert done.exit_code == 1
    assert "no book was made:\ndocs/grading.md contains what solutions/01_small/" in done.output
    assert "total" not in words(tmp_path / "book" / "docs" / "grading.html")


def test_a_folder_that_is_no_book_is_left_alone(small, book, tmp_path, lessons_command):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "mine").write_text("x")
    done = book()
    assert done.exit_code == 2
    assert "is not a book" in done.output
    assert [path.name for path in (tmp_path / "book").iterdir()] == ["mine"]
    done = lessons_command("book", "--from", tmp_path / "nowhere")
    assert done.exit_code == 2
    assert "does not exist" in done.output


@pytest.mark.slow
def test_without_a_run_lessons_are_executed_once(small, lessons_process):
    def made():
        process = lessons_process("book")
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return said

    assert "Executing 01: " in made()
    assert "Exercise 1.1: right" in words(small / "build/book/lessons/01_small/lesson.html")
    assert "Executing" not in made()
