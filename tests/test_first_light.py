"""The script for a machine with one GPU also runs here, on the CPU, and writes its report."""

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

from first_light import PROGRAMS, TIMED  # noqa: E402


def started(*words, **more):
    command = [sys.executable, str(SCRIPT), *words]
    environ = os.environ | {"CUDA_VISIBLE_DEVICES": ""} | more
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=480)


@pytest.mark.nightly  # what the script adds to its programs; tests of lessons run these
@pytest.mark.slow
@pytest.mark.ranks
def test_programs_run_and_the_report_has_them(tmp_path):
    """Run a kill and a resume, two ranks, and the precisions. Tests of lessons run the others."""
    asked = ["15_survive", "11_pipeline/tensor_parallel.py", "../benchmarks"]
    words = ["--seconds", "400", "--out", str(tmp_path), "--only", *asked]
    done = started(*words, COURSE_DEVICE="cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["resumed"] == "equal"
    *lives, two, rates = written["programs"]
    assert [row["exit_codes"] for row in lives] == [[[0]], [[0]], [[-9], [75], [-9], [0]]]
    assert len(two["devices"]) == 2
    assert all(row["outcome"] == "completed" for row in written["programs"])
    assert {(row["precision"], row["loop"]) for row in rates["rates"]} == {
        (precision, loop)
        for precision in ("float32", "tf32", "bfloat16")
        for loop in ("bare", "lesson")
    }
    assert all(row["program"] in (tmp_path / "report.md").read_text() for row in (*lives, two))


def test_a_program_has_the_options_that_it_is_run_with():
    for program in PROGRAMS + TIMED:
        path = (SOLUTIONS / program.path).resolve()
        assert path.exists()
        sources = "".join(file.read_text() for file in path.parent.glob("*.py"))
        options = [word for word in program.words.split() if word.startswith("--")]
        assert [word for word in options if f'"{word}"' not in sources] == [], program.name
        assert program.ranks != 2 or '"nccl"' in sources  # the copy of it has to use Gloo
