"""Tests of steps of Keras's `fit` that are computed again, on one rank."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "ranks" / "fit_steps.py"
WRONG = ("half", "to zero")


@pytest.mark.slow
@pytest.mark.ranks
def test_right_steps_of_any_optimizer_have_no_error_and_others_have():
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {row["name"]: row["drawn_error"] for row in map(json.loads, done.stdout.splitlines())}
    assert len(found) == 8
    for name, error in found.items():
        assert (error > 0.1) if name in WRONG else (error < 1e-5), name
