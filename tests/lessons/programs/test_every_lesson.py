"""Every lesson: the solution runs headlessly and earns all points; a gap passes nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessons.folders import lesson_folders
from tests.cluster.box.test_lessons_on_box import LESSONS as ON_THE_BOX

pytestmark = [pytest.mark.slow, pytest.mark.ranks]
ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
LESSONS = sorted(lesson_folders(ROOT / "solutions"))


def course(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(
        command.split(), env=env, cwd=ROOT, capture_output=True, text=True, timeout=600
    )


# The others do so on a real Slurm, as an ordinary student, in the test imported above.
@pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson not in ON_THE_BOX])
def test_the_solution_runs_and_earns_all_points(lesson, tmp_path):
    done = course(f"lessons run {lesson} --site laptop --out {tmp_path}/run", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    [folder] = (tmp_path / "run").glob(f"{lesson}_*/")
    packed = f"lessons submit {lesson} --in {folder} --out {tmp_path}/class/ada.zip"
    done = course(packed, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    grade = f"autograder grade {tmp_path}/class --profile smoke --out {tmp_path}/grades"
    done = course(grade, tmp_path)
    [found] = json.loads((tmp_path / "grades" / "grades.json").read_text())["grades"]
    assert found["score"] == found["max_score"] == 10, done.stdout
    assert found["tier"] == "self-consistent", done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


GAPS = {"03": 6, "04": 5, "05": 6}  # in these lessons, nothing else is left to do


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_untouched_gap_fails_its_check(lesson, tmp_path):
    [folder] = (ROOT / "lessons").glob(f"{lesson}_*/")
    done = course(f"lessons check {lesson} --in {folder}", tmp_path)
    assert done.returncode == 1
    assert "still a gap" in done.stdout
    if lesson in GAPS:
        assert done.stdout.count("still a gap") == GAPS[lesson]
        assert f"0 of {GAPS[lesson]} exercises passed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
