"""Helpers that compare what a public check says with what a test expects."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessons.toolkit.checks.shared.check import CheckFailed

ROOT = Path(__file__).parents[3]


def failure(check, *students, **options):
    with pytest.raises(CheckFailed) as caught:
        check(*students, **options)
    return caught.value


def assert_advice(failed, words):
    """Check that there are three lines and that the last is about this mistake."""
    lines = [line.split(maxsplit=1)[0] for line in failed.lines()]
    assert lines == ["Exercise", "expected", "found", "try"], str(failed)
    assert words.lower() in str(failed).lower(), str(failed)


def assert_passes(script):
    """Check in one process, because TensorFlow is set up once, for all mistakes in a program."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
