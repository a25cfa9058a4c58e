"""The script for a machine with a GPU also runs here, on the CPU, and writes its report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "gpu" / "first_light.py"


def started(*words):
    command = [sys.executable, str(SCRIPT), *words]
    environ = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=480)


@pytest.mark.slow
@pytest.mark.ranks
def test_every_program_runs_and_the_report_has_it(tmp_path):
    done = started("--pretend", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    outcomes = {row["program"]: row["outcome"] for row in report["programs"]}
    assert outcomes.pop("10_native/hang.py") == "hung as meant"
    assert set(outcomes.values()) == {"completed"}, outcomes
    lessons = {program[:2] for program in outcomes}
    assert lessons == {"02", "10", "11", "12", "13", "14", "15"}
    rates = {(row["precision"], row["loop"]): row["images_per_s"] for row in report["precisions"]}
    assert set(rates) == {
        (precision, loop)
        for precision in ("float32", "tf32", "bfloat16")
        for loop in ("bare", "lesson")
    }
    assert all(rate > 0 for rate in rates.values())
    page = (tmp_path / "report.md").read_text()
    assert all(program in page for program in outcomes)


def test_without_a_gpu_it_says_so(tmp_path):
    done = started("--out", str(tmp_path))
    assert done.returncode == 1
    assert "sees no GPU here" in done.stderr
    assert "Traceback" not in done.stderr
