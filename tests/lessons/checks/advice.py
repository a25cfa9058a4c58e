"""Helpers that compare what a public check says with what a test expects."""

import importlib.util
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


def changed(folder, lesson, file, *changes):
    """Return the module in this file of a solution, with some of its text changed, from `folder`.

    Modules beside it are found on sys.path.
    """
    text = (ROOT / "solutions" / lesson / file).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (file, old)
        text = text.replace(old, new)
    (folder / file).write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
