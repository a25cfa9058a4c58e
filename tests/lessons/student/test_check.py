"""Tests of `lessons check`: public checks of gaps, solutions and mistakes."""

import hashlib
import os
import signal
import sys
import time
import uuid

import nbformat
import psutil
import pytest

from lessons.student import run_cells
from tests.breadth import breadth
from tests.lessons.student.small_lesson import NAME, RIGHT, fill, rows


def test_untouched_gaps_are_named_and_nothing_changes(student, lessons_command):
    """In its folder a lesson needs no number. No cell runs but those of exercises."""
    notebook = nbformat.read(student / f"{NAME}.ipynb", as_version=4)
    notebook.cells[1].source += "\nopen('written.txt', 'w').write('x')"  # the parameters cell
    notebook.cells.append(nbformat.v4.new_code_cell(f"open('{student}/ran', 'w').write('x')"))
    nbformat.write(notebook, student / f"{NAME}.ipynb")
    before = {p.name: hashlib.sha256(p.read_bytes()).digest() for p in student.iterdir()}
    done = lessons_command("check")
    assert done.exit_code == 1
    found = {exercise: result for exercise, (result, _) in rows(done.output).items()}
    assert found == {"1.1": "still a gap", "1.2": "still a gap", "1.3": "not yet"}
    assert "0 of 3 exercises passed" in done.output
    assert "(Ctrl+S)" in done.output
    assert "Shift+Enter" not in done.output, "a terminal runs no cell"
    after = {p.name: hashlib.sha256(p.read_bytes()).digest() for p in student.iterdir()}
    assert before == after


def test_every_solution_passes(course, student, lessons_command):
    fill(student, *RIGHT)
    solved = course / "solutions" / NAME / "job.sbatch"
    (student / "job.sbatch").write_text(solved.read_text())
    done = lessons_command("check", "1", "--in", student)
    assert done.exit_code == 0, done.output
    assert "3 of 3 exercises passed" in done.output


def test_elsewhere_a_lesson_needs_its_number(student, lessons_command, monkeypatch):
    monkeypatch.chdir(student.parent)
    done = lessons_command("check")
    assert done.exit_code == 2
    assert "Which lesson" in done.output


@pytest.mark.parametrize("words", breadth([["check"], ["check", "01"]], quick=0))
def test_a_renamed_folder_is_known_by_its_notebook(student, lessons_command, monkeypatch, words):
    renamed = student.rename(student.parent / "my first lesson")
    monkeypatch.chdir(renamed)
    assert rows(lessons_command(*words).output).keys() == {"1.1", "1.2", "1.3"}


def test_a_mistake_says_expected_found_try_and_later_checks_run(student, lessons_command):
    fill(student, RIGHT[0], ("Exercise 1.1", "    return x"), RIGHT[2])
    done = lessons_command("check", "01", "--in", student.parent)
    assert done.exit_code == 1
    found = rows(done.output)
    assert found["1.1"][0] == "not yet"
    assert found["1.2"][0] == "passed"
    for words in ("expected  4", "found     2", "try       x + x"):
        assert words in done.output


def test_a_loop_without_end_is_stopped_and_named(student, lessons_command, monkeypatch):
    monkeypatch.setattr(run_cells, "EXERCISE_SECONDS", 3)
    fill(
        student,
        RIGHT[0],
        ("Exercise 1.1", "    import time\n    while True: time.sleep(0.1)"),
        RIGHT[2],
    )
    done = lessons_command("check", "01")
    assert done.exit_code == 1
    found = rows(done.output)
    assert found["1.1"] == ("not yet", "stopped after 3 s: is there a loop that never ends?")
    assert found["1.2"][0] == "passed"
    assert "Timeout" not in done.output


@pytest.fixture
def other(tmp_path):
    """Make the same lesson in another clone, whose environment is not active."""
    for inside in ("lessons/toolkit", f"lessons/{NAME}"):
        (tmp_path / "other" / inside).mkdir(parents=True)
    return tmp_path / "other"


@pytest.mark.parametrize("command", ["check", "submit"])
@pytest.mark.parametrize("place", [".", "lessons", f"lessons/{NAME}"])
def test_another_environments_course_is_not_taken_in_silence(
    other, lessons_command, monkeypatch, command, place
):
    (other / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.chdir(other / place)
    done = lessons_command(command, "01")
    assert done.exit_code == 1
    assert f"You are in the course {other}, but the active environment is {sys.prefix}." in (
        done.output
    )
    assert f"`source {other}/.venv/bin/activate`" in done.output
    assert len(done.output.splitlines()) == 1


def test_a_check_cell_that_was_deleted_is_missed(student, lessons_command, tmp_path):
    mine = tmp_path / "mine" / NAME
    mine.mkdir(parents=True)
    for file in student.iterdir():
        (mine / file.name).write_bytes(file.read_bytes())
    notebook = nbformat.read(mine / f"{NAME}.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if 'check("1.1", double)' not in cell.source]
    nbformat.write(notebook, mine / f"{NAME}.ipynb")
    done = lessons_command("check", "01", "--in", mine)
    assert done.exit_code == 1
    assert rows(done.output)["1.1"] == ("not yet", "its check cell is missing; take a fresh copy")


@pytest.mark.parametrize(
    ("break_it", "code", "words"),
    [
        (lambda folder: (folder / f"{NAME}.ipynb").unlink(), 2, "There is no notebook"),
        (lambda folder: (folder / f"{NAME}.ipynb").write_text("{"), 1, "not a notebook"),
        (
            lambda folder: nbformat.write(nbformat.v4.new_notebook(), folder / f"{NAME}.ipynb"),
            1,
            "has no check cells",
        ),
    ],
)
def test_what_cannot_be_checked(student, lessons_command, break_it, code, words):
    break_it(student)
    done = lessons_command("check", "01", "--in", student)
    assert done.exit_code == code
    assert words in done.output


def test_ctrl_c_leaves_nothing_and_no_traceback(course, student, lessons_process):
    word = uuid.uuid4().hex
    notebook = nbformat.read(student / f"{NAME}.ipynb", as_version=4)
    begin = f"open('{course}/begun', 'w').close()\nfrom subprocess import Popen"
    wait = f"Popen(['python', '-c', 'input()', '{word}'], stdin=-1).wait()"
    notebook.cells[1].source += f"\n{begin}\n{wait}"
    nbformat.write(notebook, student / f"{NAME}.ipynb")
    process = lessons_process("check", "01", start_new_session=True)
    end = time.monotonic() + 60
    while not (course / "begun").exists() and time.monotonic() < end:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == "stopped; nothing was changed\n"
    lines = [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
    assert [line for line in lines if word in line] == []
