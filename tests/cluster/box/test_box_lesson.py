"""A student submits lesson 02's own job files; the grade is confirmed by Slurm's accounting."""

import json
import re
import shutil
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slurm


def test_lesson_02_is_submitted_and_its_grade_confirmed(box, course, student, tmp_path):
    student.do(f"cp -r {course}/solutions/02_serial .")
    submit = "cd 02_serial && module load dl-course && cluster submit --site box"
    small = "--epochs 3 --train-samples 2000"
    said = student.do(
        f"{submit} job.sbatch {small} && cluster submit --site box"
        f" --nodes=2 --ntasks=2 job_horovod.sbatch {small}"
    )
    serial, horovod = [line.split()[-1] for line in said.splitlines() if "Submitted" in line]
    assert student.wait(serial, seconds=120)["state"] == "COMPLETED"
    assert student.wait(horovod, seconds=120)["state"] == "COMPLETED"

    handed_in = tmp_path / "class" / "student1" / "02_serial"
    handed_in.mkdir(parents=True)
    for output in (f"02_keras_{serial}.out", f"02_horovod_{horovod}.out"):
        shutil.copy(f"{student.folder}/02_serial/{output}", handed_in)
    for _ in range(50):  # a record is whole some seconds after its job
        accounting = box("accounting").stdout
        if f"\n{horovod}|" in accounting:
            break
        time.sleep(0.2)
    assert tier(tmp_path, accounting) == "confirmed"
    elsewhere = re.sub(r"node(\[[0-9,-]+\]|[0-9]+)", "node99", accounting)
    assert tier(tmp_path, elsewhere) == "contradicted"


def tier(folder, accounting):
    """What the grader makes of the class in the folder, given the scheduler's accounting."""
    (folder / "accounting").write_text(accounting)
    grade = ["grade", "class/student1", "--profile=smoke", "--sacct=accounting", "--out=grades"]
    done = subprocess.run(
        [f"{sys.prefix}/bin/autograder", *grade], cwd=folder, capture_output=True, text=True
    )
    record = folder / "grades/records/student1.json"
    assert record.exists(), done.stderr
    [graded] = json.loads(record.read_text())["grades"]
    return graded["tier"]
