"""Whole lessons on real Slurm: an ordinary account runs the solutions' notebooks in `smoke`.

The notebooks submit their jobs with sbatch; what they hand in is graded beside Slurm's accounting.
"""

import json
import shutil
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

# Each lesson, and those of its checks that two cores cannot judge.
LESSONS: dict[str, set[str]] = {
    "07": set(),
    "08": set(),
}


def test_every_lesson_earns_what_two_cores_can_show(box, student, tmp_path):
    names = " ".join(LESSONS)
    run = (
        f"lessons run {names} --edition solutions --site box --jobs 2 --cell-timeout 400 --out run"
    )
    student.do(f"module load dl-course && {run}", seconds=500)
    submit = "lessons submit {0} --in run/{0}_* --out {0}.zip"
    for lesson in LESSONS:
        student.do(f"module load dl-course && {submit.format(lesson)}")
    grades = grades_of(student, box, tmp_path)

    not_passed = {
        lesson: {
            c["id"]: (c["status"], c["found"]) for c in grade["checks"] if c["score"] < most(c)
        }
        for lesson, grade in grades.items()
    }
    for lesson, unmeasured in LESSONS.items():
        assert not_passed[lesson].keys() == unmeasured, not_passed[lesson]
        for status, reason in not_passed[lesson].values():
            assert status == "not measured"
            assert reason
        assert grades[lesson]["tier"] == "confirmed", grades[lesson]["findings"]


def most(check):
    """An informative check has no points to lose: whatever is wrong there shows in its status."""
    return check["points"] or float(check["status"] != "passed")


def grades_of(student, box, folder):
    """The grade of each lesson that the student packed, given the accounting of all jobs."""
    (folder / "class" / "student1").mkdir(parents=True)
    for lesson in LESSONS:
        shutil.copy(f"{student.folder}/{lesson}.zip", folder / "class" / "student1")
    last = student.do("sacct -X -n -P --format=jobid").split()[-1]
    for _ in range(50):  # a record is whole some seconds after its job
        (folder / "accounting").write_text(box("accounting").stdout)
        if f"\n{last}|" in (folder / "accounting").read_text():
            break
        time.sleep(0.2)
    grade = ["grade", "class", "--profile=smoke", "--sacct=accounting", "--out=grades"]
    done = subprocess.run(
        [f"{sys.prefix}/bin/autograder", *grade], cwd=folder, capture_output=True, text=True
    )
    record = folder / "grades/records/student1.json"
    assert record.exists(), done.stderr
    return {grade["lesson"]: grade for grade in json.loads(record.read_text())["grades"]}
