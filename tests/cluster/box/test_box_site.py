"""The site file `box`: the course's job files under real Slurm, run by an ordinary student."""

import time

import pytest

from tests.cluster.box_students import ON_BOX

pytestmark = pytest.mark.slurm

JOB = """#!/bin/bash
#SBATCH --job-name=hello
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --time=00:02:00
#SBATCH --output=out
#SBATCH --error=err
set -euo pipefail
source "${COURSE_SITE:-$HOME/.dl-course/site.sh}"
facts
launch python -u program.py
"""
SITES = ("laptop", "box")
HELLO = """
import os
from mpi4py import MPI
print("rank", MPI.COMM_WORLD.rank, "of", MPI.COMM_WORLD.size, "on", os.uname().nodename)
"""


@pytest.fixture
def lesson(student):
    """Write a job file and a program into the student's folder; the module provides `cluster`."""
    student.write("job.sbatch", JOB)
    student.write("program.py", HELLO)
    return student


def cluster(student, words: str, site: str = "box") -> tuple[int, str, str]:
    command = f"{ON_BOX.replace('box.sh', f'{site}.sh')} && cluster {words}"
    done = student.try_to(command, seconds=120)
    return done.returncode, done.stdout, done.stderr


def recorded(student, job: str) -> dict[str, str]:
    """Return the job's accounting, waiting until it is complete.

    A short job's end may be recorded before the rest.
    """
    for _ in range(30):
        columns = "state,nnodes,submitline"
        header, row = student.do(f"sacct -X -P -j {job} -o {columns}").splitlines()
        record = dict(zip(header.split("|"), row.split("|"), strict=True))
        if record["SubmitLine"]:
            break
        time.sleep(1)
    return record


def test_a_job_file_runs_on_two_nodes_and_its_accounting_is_real(lesson):
    code, said, command = cluster(lesson, "submit --wait job.sbatch")
    assert code == 0, command
    job = said.split()[-1]
    output = lesson.read("out")
    assert "site: box (slurm)\n" in output
    assert "nodes: 2 (node[" in output
    assert "launch: 4 ranks in one MPI world\n" in output
    assert output.count(" of 4 on node") == 4
    record = recorded(lesson, job)
    assert (record["State"], record["NNodes"]) == ("COMPLETED", "2")
    assert record["SubmitLine"] == "sbatch job.sbatch"


def test_jobs_of_the_laptop_in_the_same_folder_have_other_numbers(lesson):
    submit = "submit --output=job_%j.out job.sbatch"
    jobs = {cluster(lesson, submit, site)[1].split()[-1] for site in SITES}
    assert min(map(int, jobs)) < 100_000 < max(map(int, jobs))


def test_a_plug_in_that_starts_programs_of_size_one_is_caught(lesson):
    """With pmi2 and Open MPI, N programs of size 1 run, and each ends with exit code 0."""
    lesson.do(
        "module load dl-course"
        " && folder=$(python -c 'import cluster.sites.site_files as s; print(s.FOLDER)')"
        " && sed s/--mpi=pmix/--mpi=pmi2/ $folder/box.sh >box.sh && cp $folder/job.sh ."
    )
    lesson.write("job.sbatch", JOB.replace("${COURSE_SITE:-$HOME/.dl-course/site.sh}", "box.sh"))
    code, _, said = cluster(lesson, "submit --wait job.sbatch")
    assert code == 1
    assert "FAILED" in said
    assert "4 ranks were asked for, but MPI sees 1" in lesson.read("err")
    assert "rank 0 of 1" not in lesson.read("out")


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ("--account=nope", "cluster use box --account NAME"),
        ("--nodes=9 --ntasks=9", "ask for fewer --nodes"),
        ("--partition=debug --time=2:00:00", "ask for less --time"),
        ("--gres=tpu:1", "ask for GPUs as this site does"),
    ],
)
def test_what_real_slurm_refuses_comes_with_advice(lesson, options, advice):
    code, _, said = cluster(lesson, f"submit {options} job.sbatch")
    assert code == 1
    assert advice in said


def test_slurm_gives_the_gpus_asked_for_by_hand_and_not_those_of_the_site_too(lesson):
    lesson.write("job.sbatch", "#!/bin/bash\n#SBATCH --ntasks=1\n#SBATCH --output=out\ntrue\n")
    submit = "cluster submit --wait --gres=gpu:1 job.sbatch"
    said = lesson.do(f"{ON_BOX} && SBATCH_GPUS_PER_NODE=2 {submit}", seconds=120)
    assert "gres/gpu=1" in lesson.wait(said.split()[-1])["alloctres"].split(",")


def test_the_log_of_a_job_that_sbatch_submitted(lesson):
    """Follow a job that the course does not know, from before it starts."""
    lesson.write("program.py", "print('up')")
    submit = "sbatch --parsable --begin=now+3 --ntasks=2 --output=job_%j.out job.sbatch"
    job = lesson.do(f"{ON_BOX} && source $COURSE_SITE && {submit}").split()[-1]
    code, said, errors = cluster(lesson, f"logs -f {job}")
    assert (code, "up\n" in said, "COMPLETED" in errors) == (0, True, True), errors
