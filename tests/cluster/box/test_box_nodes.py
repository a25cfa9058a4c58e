"""Lessons 02 and 07 to 09 on two virtual nodes, with their own job files, run by a student.

Slurm's accounting confirms the grade.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.cluster.box.test_lessons_on_box import save_accounting
from tests.cluster.box_students import ON_BOX

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

# Several ranks on each node: test_horovod_across_nodes in test_box_jobs.py.
SHAPE = "--nodes=2 --ntasks=2 --ntasks-per-node=1"
SMALL = "--model cnn --size 32 --epochs 2 --batch-size 16 --test-samples 64"
LESSONS = {"07": "07_horovod", "08": "08_data", "09": "09_learning_rate"}
OWN = {"07": "--train-samples 128", "08": "", "09": "--train-samples 128"}
PARTS = """\
import make_parts
from lessons.toolkit import data
cifar = data.load("cifar10", 128)
make_parts.write_parts(cifar.x_train, cifar.y_train, "data/photographs", 8)
"""
# Because the run is small, it misses these conditions of `full`, and no others.
MISSED = (
    "parameters of the network: 1,626,442",
    "width of the images: 32",
    "finished epochs: 2",
    "training loss of the last epoch",
    "sizes measured: 1 size",
    "difference in a class's share between one rank and all",
    "test accuracy",
    "no run of `nodes-one`",
    "validation accuracy did not reach",
)


def test_the_job_files_that_leave_the_node_are_confirmed(box, course, student, tmp_path):
    student.do(f"cp -r {' '.join(f'{course}/solutions/{name}' for name in LESSONS.values())} .")
    student.write("08_data/parts.py", PARTS)
    student.do("cd 08_data && module load dl-course && python parts.py")
    submit = f"{ON_BOX} && cluster submit"
    jobs = {
        lesson: student.do(
            f"cd {folder} && {submit} {SHAPE} job_nodes.sbatch {SMALL} {OWN[lesson]}"
        ).split()[-1]
        for lesson, folder in LESSONS.items()
    }
    for lesson, job in jobs.items():
        ended = student.wait(job, seconds=300)
        assert (ended["state"], ended["nnodes"]) == ("COMPLETED", "2"), (lesson, ended)
        name = f"{LESSONS[lesson]}/{lesson}_nodes_{job}.out"
        there = tmp_path / "class" / "student1" / LESSONS[lesson]
        there.mkdir(parents=True)
        shutil.copy(f"{student.folder}/{name}", there)
    save_accounting(jobs.values(), box, tmp_path / "accounting")

    for lesson, grade in grades(tmp_path).items():
        assert grade["tier"] == "confirmed", (lesson, grade["findings"])
        [check] = [check for check in grade["checks"] if check["id"] == "nodes"]
        missed = [part for part in check["actual"].split("; ") if not part.startswith(MISSED)]
        assert missed == [], lesson
    elsewhere = re.sub(
        r"node(\[[0-9,-]+\]|[0-9]+)", "node99", (tmp_path / "accounting").read_text()
    )
    (tmp_path / "accounting").write_text(elsewhere)
    assert {grade["tier"] for grade in grades(tmp_path).values()} == {"contradicted"}


def grades(folder):
    """Return the `full` grades of the class in the folder, checked against its accounting."""
    grade = ["grade", "class", "--profile=full", "--set=accounting=accounting", "--out=grades"]
    done = subprocess.run(
        [f"{sys.prefix}/bin/autograder", *grade], cwd=folder, capture_output=True, text=True
    )
    record = folder / "grades/records/student1.json"
    assert record.exists(), done.stderr
    return {grade["lesson"]: grade for grade in json.loads(record.read_text())["grades"]}
