"""Fixtures: a student's folder of lesson 02, and its program's output."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lessons.recorded_program import PROGRAM
from tests.lessons.student.small_lesson import NAME

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run_output():
    """Return the output of a program with a run record."""
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a student's folder of lesson 02 with all gaps open and no runs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "lessons" / "02_serial", tmp_path / "02_serial")
    return tmp_path / "02_serial"


@pytest.fixture
def student(course, lessons_command, monkeypatch):
    """Make a student's folder and change into it."""
    lessons_command("build")
    monkeypatch.chdir(course / "lessons" / NAME)
    return course / "lessons" / NAME
