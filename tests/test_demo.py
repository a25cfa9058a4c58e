"""`make demo`: its table ends with a speedup, which is graded, and the page shows its picture."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cluster.schedulers.laptop.cores import whole_cores

ROOT = Path(__file__).parents[1]
NUMBER = r"(\d+\.\d\d)"
LINE = re.compile(
    rf"  (\S) +(\S+)/2  Speedup on 2 ranks {NUMBER} \({NUMBER} … {NUMBER}\), {NUMBER} of what"
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what `make demo` printed, and the folder it wrote.

    COURSE_DEMO can name the folder of a demo that has already run, as in `.ci/run`, with its output
    in printed.txt. The environment exists already, or no test would run.
    """
    if folder := os.environ.get("COURSE_DEMO"):
        return (Path(folder) / "printed.txt").read_text(), Path(folder)
    home = tmp_path_factory.mktemp("home")
    done = subprocess.run(
        ["make", "demo", "PYTHON=true"],
        cwd=ROOT, env=os.environ | {"HOME": str(home)}, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, ROOT / "build" / "demo"


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.skipif(len(whole_cores()) < 2, reason="one core has no speedup to show")
def test_the_demo_ends_with_a_graded_speedup(demo):
    printed, folder = demo
    last = [line for line in printed.splitlines() if line.startswith("  ")][-1]
    found = LINE.match(last)
    assert found, printed
    sign, points, *numbers = found.groups()
    gain, low, high, share = map(float, numbers)
    assert sign in "✓≈"
    assert points == "2"
    # Check only that it is plausible: a test cannot depend on how fast this machine is right now.
    assert 0 < low <= gain <= high < 20
    assert 0.1 < share < 10
    page = (folder / "grades" / "students" / "you.html").read_text()
    assert "Speedup in each round" in page
    # Lesson 02 runs here as it does everywhere, and earns all points.
    serial, _ = json.loads((folder / "grades" / "grades.json").read_text())["grades"]
    assert (serial["lesson"], serial["score"], serial["max_score"]) == ("02", 10, 10), printed
    assert serial["tier"] == "self-consistent", printed


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.skipif(not shutil.which("taskset"), reason="nothing here gives a program one core")
def test_on_one_core_a_sentence_says_why_there_is_none(tmp_path):
    """The recipe's own lines run, without anything that takes long."""
    said = subprocess.run(
        ["taskset", "-c", "0", "make", "speed-job", "PYTHON=true"],
        cwd=ROOT, env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    [line] = [line for line in said.stdout.splitlines() if not line.startswith("make")]
    assert "no speedup to show" in line
