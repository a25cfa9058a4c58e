"""Whole lessons on real Slurm: an ordinary account runs the solutions' notebooks in `smoke`.

The notebooks submit their jobs with sbatch. The submissions are graded with Slurm's accounting.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lessons.programs.all_points import points_lost
from tests.lessons.programs.break_it import leaves_its_traces

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

# PyTorch's two launchers, a job that hangs, and speed. Lesson 06 runs in a session of JupyterLab, a
# first day has jobs of 02 and 07, and 15 waits for Slurm, which delays each requeued job.
LESSONS = ("10",)
OTHERS = pytest.param(("07", "08", "15"), marks=pytest.mark.nightly)
CLINIC = pytest.param(("17",), marks=pytest.mark.nightly)
PARAMETERS = {("17",): "-p my_id=student1"}


@pytest.mark.parametrize("lessons", [LESSONS, OTHERS, CLINIC])
def test_every_lesson_earns_what_two_cores_can_show(lessons, box, student, tmp_path):
    run = f"lessons run {' '.join(lessons)} --edition solutions --site box --jobs 2 --out run"
    run += f" {PARAMETERS.get(lessons, '')}"
    student.do(f"module load dl-course && {run} --cell-timeout 600", seconds=600 * len(lessons))
    hand_in(student, box, {lesson: f"run/{lesson}_*" for lesson in lessons}, tmp_path)
    smoke, full = (grades(tmp_path, profile) for profile in ("smoke", "full"))
    assert smoke.keys() == set(lessons)
    for lesson in lessons:
        assert points_lost(smoke[lesson]) == {}, lesson
        assert smoke[lesson]["tier"] == "confirmed", smoke[lesson]["findings"]
        # Wherever `full` asks for a speed relative to a reference, it also asks for something else.
        unmeasured = {
            check["id"]: check["actual"]
            for check in full[lesson]["checks"]
            if check["status"] == "not measured" and check["id"] in points_lost(full[lesson])
        }
        assert unmeasured == {}, lesson
        [folder] = Path(student.folder, "run").glob(f"{lesson}_*/")
        leaves_its_traces(lesson, folder)


def hand_in(student, box, folders, tmp_path):
    """Pack the lessons' folders as the student, collect them, and save the accounting."""
    (tmp_path / "down" / "student1").mkdir(parents=True)
    for lesson, folder in folders.items():
        submit = f"lessons submit {lesson} --in {folder}/ --out {lesson}.zip"
        student.do(f"module load dl-course && {submit}")
        shutil.copy(f"{student.folder}/{lesson}.zip", tmp_path / "down" / "student1")
    collect = ["collect", "down", "--from", "folders", "--into", "class"]
    subprocess.run([f"{sys.prefix}/bin/autograder", *collect], cwd=tmp_path, check=True)
    outputs = student.do("ls " + " ".join(f"{folder}/*.out" for folder in folders.values()))
    save_accounting(re.findall(r"_(\d+)\.out", outputs), box, tmp_path / "accounting")


def save_accounting(jobs, box, file):
    """Save the accounting of these jobs; a record is complete a few seconds after its job."""
    for _ in range(50):
        file.write_text(box("accounting").stdout)
        if all(f"\n{job}|" in file.read_text() for job in jobs):
            break
        time.sleep(0.2)


def grades(folder, profile):
    """Return the grade of each lesson that the student packed."""
    words = [
        "grade",
        "class",
        "--profile",
        profile,
        "--set=accounting=accounting",
        f"--out={profile}",
    ]
    done = subprocess.run(
        [f"{sys.prefix}/bin/autograder", *words], cwd=folder, capture_output=True, text=True
    )
    record = folder / profile / "records" / "student1.json"
    assert record.exists(), done.stderr
    return {grade["lesson"]: grade for grade in json.loads(record.read_text())["grades"]}
