"""Tests that training at 128 by 128 needs little memory: no float copy of the data exists."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "benchmarks" / "lessons" / "data_memory.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["slices", pytest.param("indices", marks=pytest.mark.nightly), "batches"]
)
def test_training_at_128_stays_below_2_gb(way, monkeypatch):
    # The stand-in has the real set's size, so this holds on a machine without the files too.
    monkeypatch.setenv("COURSE_STAND_IN", "1")
    command = [sys.executable, str(PROGRAM), "--here", way, "--batch=8", "--steps=3"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["samples"] == 50_000
    assert found["peak_mb"] < 2000
