"""Fixtures: a small course of one lesson, and its command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lessons.cli import main

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def course(tmp_path, monkeypatch):
    root = tmp_path / "course"
    shutil.copytree(FIXTURES / "course", root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("COURSE_ROOT", str(root))
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return root


@pytest.fixture
def lessons_command():
    """Run `lessons …` in this process: quick, for commands that start nothing."""

    def call(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return call


def start_lessons(*arguments, **options):
    """Start `lessons …` in its own process, as a user does."""
    command = [sys.executable, "-c", "from lessons.cli import main; main()"]
    options = {"env": dict(os.environ)} | options
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


@pytest.fixture(scope="session")
def lessons_process():
    return start_lessons
