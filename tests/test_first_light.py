"""The script for a machine with a GPU also runs here, on the CPU, and writes its report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOLUTIONS = ROOT / "solutions"
SCRIPT = ROOT / "benchmarks" / "gpu" / "first_light.py"
sys.path.insert(0, str(SCRIPT.parent))

from first_light import PROGRAMS  # noqa: E402


def started(*words):
    command = [sys.executable, str(SCRIPT), *words]
    environ = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=480)


@pytest.mark.slow
@pytest.mark.ranks
def test_programs_run_and_the_report_has_them(tmp_path):
    """Run one program of each kind. The tests of the lessons run the others."""
    asked = {
        "10_native/hang.py": "hung as meant",  # two ranks, and has to fail
        "11_pipeline/train_library.py": "completed",  # two ranks, with losses
    }
    done = started("--pretend", "--out", str(tmp_path), "--only", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert {row["program"]: row["outcome"] for row in report["programs"]} == asked
    assert all(row["losses"] for row in report["programs"] if row["program"].startswith("11"))
    rates = {(row["precision"], row["loop"]): row["images_per_s"] for row in report["precisions"]}
    assert set(rates) == {
        (precision, loop)
        for precision in ("float32", "tf32", "bfloat16")
        for loop in ("bare", "lesson")
    }
    assert all(rate > 0 for rate in rates.values())
    page = (tmp_path / "report.md").read_text()
    assert all(program in page for program in asked)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.path)
def test_a_program_has_the_options_that_it_is_run_with(program):
    path = SOLUTIONS / program.path
    known = "".join(file.read_text() for file in path.parent.glob("*.py"))
    assert path.exists()
    for word in program.words:
        assert not word.startswith("--") or f'"{word}"' in known, word


def test_the_programs_come_from_every_lesson_that_needs_only_pytorch():
    assert {program.path[:2] for program in PROGRAMS} == {"02", "10", "11", "12", "13", "14", "15"}


@pytest.mark.slow
def test_without_a_gpu_it_says_so(tmp_path):
    done = started("--out", str(tmp_path))
    assert done.returncode == 1
    assert "sees no GPU here" in done.stderr
    assert "Traceback" not in done.stderr
