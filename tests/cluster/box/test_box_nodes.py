"""Lessons 02 and 07 to 09 leave the node: their own job files, submitted by a student, on two
virtual nodes; the grade is confirmed by Slurm's accounting."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from autograder.reading.files import read_files
from tests.cluster.box.test_lessons_on_box import save_accounting

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SHAPE = "--nodes=2 --ntasks=4 --ntasks-per-node=2"
SMALL = "--model cnn --size 32 --epochs 3 --batch-size 16 --test-samples 200"
LESSONS = {"07": "07_horovod", "08": "08_data", "09": "09_learning_rate"}
OWN = {"07": "--train-samples 256", "08": "", "09": "--train-samples 256"}
PARTS = """\
import make_parts
from lessons.toolkit import data
cifar = data.load("cifar10", 256)
make_parts.write_parts(cifar.x_train, cifar.y_train, "data/photographs", 8)
"""
# Small as it is, it misses these of what `full` asks for, and nothing else.
MISSED = (
    "parameters of nodes: 1,626,442",
    "image size of nodes: 32",
    "epochs of nodes: 3",
    "loss last of nodes",
    "study sizes of nodes: 1 size,",
    "difference in a class's share of nodes",
    "test accuracy of nodes",
    "no run of `nodes-one`",
    "validation accuracy did not reach",
)


def test_the_job_files_that_leave_the_node_are_confirmed(box, course, student, tmp_path):
    student.do(f"cp -r {' '.join(f'{course}/solutions/{name}' for name in LESSONS.values())} .")
    student.write("08_data/parts.py", PARTS)
    student.do("cd 08_data && module load dl-course && python parts.py")
    submit = f"module load dl-course && cluster submit --site box {SHAPE} job_nodes.sbatch {SMALL}"
    jobs = {
        lesson: student.do(f"cd {folder} && {submit} {OWN[lesson]}").split()[-1]
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
        missed = [part for part in check["found"].split("; ") if not part.startswith(MISSED)]
        assert missed == [], lesson
    elsewhere = re.sub(
        r"node(\[[0-9,-]+\]|[0-9]+)", "node99", (tmp_path / "accounting").read_text()
    )
    (tmp_path / "accounting").write_text(elsewhere)
    assert {grade["tier"] for grade in grades(tmp_path).values()} == {"contradicted"}


def test_lesson_02s_two_ranks_are_on_two_nodes(box, course, student, tmp_path):
    """The page's look ahead, with Keras and with PyTorch; such checks are worth no points there."""
    student.do(f"cp -r {course}/solutions/02_serial .")
    small = "--epochs 3 --train-samples 2000"
    there = tmp_path / "class" / "student1" / "02_serial"
    there.mkdir(parents=True)
    jobs = {}
    for name in ("02_horovod", "02_torch_horovod"):
        submit = f"cluster submit --site box --nodes=2 --ntasks=2 job{name[2:]}.sbatch {small}"
        said = student.do(f"cd 02_serial && module load dl-course && {submit}")
        jobs[said.split()[-1]] = name
    for job, name in jobs.items():
        ended = student.wait(job, seconds=300)
        assert (ended["state"], ended["nnodes"]) == ("COMPLETED", "2"), (name, ended)
        shutil.copy(f"{student.folder}/02_serial/{name}_{job}.out", there)
    save_accounting(jobs, box, tmp_path / "accounting")

    grade = grades(tmp_path)["02"]
    assert grade["tier"] == "confirmed", grade["findings"]
    passed = {check["id"] for check in grade["checks"] if check["status"] == "passed"}
    assert passed == {"keras-horovod", "torch-horovod"}, grade["checks"]
    runs = read_files(sorted(there.iterdir()))
    assert [len({rank.host for rank in run.ranks}) for run in runs] == [2, 2]


def grades(folder):
    """What the grader makes of the class in the folder, in `full`, beside the accounting there."""
    grade = ["grade", "class", "--profile=full", "--sacct=accounting", "--out=grades"]
    done = subprocess.run(
        [f"{sys.prefix}/bin/autograder", *grade], cwd=folder, capture_output=True, text=True
    )
    record = folder / "grades/records/student1.json"
    assert record.exists(), done.stderr
    return {grade["lesson"]: grade for grade in json.loads(record.read_text())["grades"]}
