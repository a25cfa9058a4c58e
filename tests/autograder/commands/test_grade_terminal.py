"""Tests of the output of `autograder grade` in a terminal."""

import os
import pty
import re
import subprocess
import sys

import click
import pytest

from autograder.codes import FindingCode
from autograder.notes import make_note
from autograder.report import terminal
from autograder.verdict import Grade
from tests.autograder.conftest import COLUMNS
from tests.autograder.make_record import hand_in, make_record


def test_a_single_student_sees_each_check_and_the_page(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02", keras=make_record(params=50890))
    result = grade(tmp_path / "class")
    assert re.search(r"✗ +0/1  The network has 407,050 parameters \(failed\)", result.stdout)
    assert re.search(r"✓ +2/2  Predictions and questions\n", result.stdout)
    assert str(result.folder / "students" / "ada.html") in result.stderr


@pytest.mark.slow
def test_the_table_fits_a_terminal_of_80_columns(tmp_path, grade):
    for name in ("ada", "ben"):
        hand_in(tmp_path / "class" / name / "02", keras=make_record(ranks_asked=2, job_id=name))
    command = [sys.executable, "-m", "autograder", "grade", str(tmp_path / "class")]
    command += ["--profile", "full"]
    shown = on_terminal(command, columns=80)
    assert [word for word in COLUMNS if word not in shown[0]] == []
    assert all(len(line) <= 80 for line in shown)
    rows_shown = [line for line in shown if line.split()[:1] in (["ada"], ["ben"])]
    assert [line.split()[1:5] for line in rows_shown] == [
        ["02", "10/10", "graded", "self-consistent"]
    ] * 2


def on_terminal(command: list[str], columns: int) -> list[str]:
    """Return what a command prints on a terminal, without colours, as lines."""
    ours, theirs = pty.openpty()
    size = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, env=size, check=False)
    os.close(theirs)
    with open(ours, "rb", buffering=0) as terminal:
        text = terminal.read(65536).decode()
    return re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r", "").split("\n")


def test_a_terminal_shows_the_ten_of_a_large_class_that_need_a_person_first(capsys, monkeypatch):
    def row(number, code):
        note = make_note(code, name="a")
        return Grade(f"s{number:03}", "02", "T", "full", "graded", 1.0, 2.0, findings=(note,))

    codes = [FindingCode.CHECK_BORDERLINE] * 290 + [FindingCode.OUTPUT_CUT] * 10
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    terminal.show([row(n, code) for n, code in enumerate(codes)], None, {}, "full")
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert [line[:4] for line in lines[1:11]] == [f"s{n}" for n in range(290, 300)]
    assert len(lines) < 20
