"""Lessons 07 to 09 on two virtual nodes, with their own job files, run by a student.

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

# Several ranks on each node: test_mpi_across_nodes in test_box_jobs.py.
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


@pytest.mark.parametrize(
    "lesson", ["08", *(pytest.param(n, marks=pytest.mark.nightly) for n in ("07", "09"))]
)
def test_a_job_file_that_leaves_the_node_is_confirmed(lesson, box, course, student, tmp_path):
    folder = LESSONS[lesson]
    student.do(f"cp -r {course}/solutions/{folder} .")
    if lesson == "08":
        student.write(f"{folder}/parts.py", PARTS)
        student.do(f"cd {folder} && module load dl-course && python parts.py")
    submit = f"{ON_BOX} && cluster submit {SHAPE} job_nodes.sbatch {SMALL} {OWN[lesson]}"
    job = student.do(f"cd {folder} && {submit}").split()[-1]
    ended = student.wait(job, seconds=300)
    assert (ended["state"], ended["nnodes"]) == ("COMPLETED", "2"), ended
    there = tmp_path / "class" / "student1" / folder
    there.mkdir(parents=True)
    shutil.copy(f"{student.folder}/{folder}/{lesson}_nodes_{job}.out", there)
    save_accounting([job], box, tmp_path / "accounting")

    grade = grades(tmp_path)[lesson]
    assert grade["tier"] == "confirmed", grade["findings"]
    [check] = [check for check in grade["checks"] if check["id"] == "nodes"]
    missed = [part for part in check["actual"].split("; ") if not part.startswith(MISSED)]
    assert missed == []
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
