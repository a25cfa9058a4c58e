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


# Loaded by each script below: `said` is what the check of an exercise says of a text of train.py.
START = """
import os, re, sys, types
os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}
import importlib
from lessons.toolkit.checks.shared import check
lesson = importlib.import_module("lessons.toolkit.checks.lesson_" + folder[:2])
checks, source = check.checks_of(lesson), open(f"solutions/{folder}/train.py").read()
gap = re.sub(r"( *)### BEGIN SOLUTION (.*)\\n(?:.*\\n)*? *### END SOLUTION",
             r'\\1raise NotImplementedError("\\2")', source)
failures = 0

def said(number, text):
    program = types.ModuleType("train")
    exec(compile(text, "train.py", "exec"), program.__dict__)
    try:
        checks[number](program.prepare if number == "3.2" else program)
    except check.CheckFailed as failed:
        return str(failed)
    return None

def expect(number, text, advice, what=""):
    global failures
    found = said(number, text)
    if (found is None) != (advice is None) or (advice and advice.lower() not in found.lower()):
        print(number, what, "expected:", advice, "got:", found)
        failures += 1

for number in numbers:
    expect(number, source, None)
    expect(number, gap, "still a gap")
for number, old, new, *advice in changes:
    assert source.count(old) >= 1, old
    expect(number, source.replace(old, new), *advice or [None], what=(old, new))
"""


def assert_passes(folder, numbers, changes, more=""):
    """Check the solution, the gaps and changes of a program in one process: TensorFlow is slow.

    changes: the exercise, an old text, the new one, and the advice, or none if it is right as well.
    """
    given = f"folder, numbers, changes = {folder!r}, {numbers!r}, {changes!r}"
    assert_ends_well(f"{given}{START}{more}\nsys.exit(failures)")


def assert_ends_well(script):
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
