"""A student's folder of lesson 02, and what its program prints."""

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
    """What a program with a run record prints."""
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A student's folder of lesson 02 with every gap open and nothing run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "lessons" / "02_serial", tmp_path / "02_serial")
    return tmp_path / "02_serial"


@pytest.fixture
def student(course, lessons_command, monkeypatch):
    """The folder of a student, who stands in it."""
    lessons_command("build")
    monkeypatch.chdir(course / "lessons" / NAME)
    return course / "lessons" / NAME
