"""Slurm's own commands on a machine without Slurm: the forms that the course's pages use."""

import os
import re

import pytest

from cluster.sites.site_files import LAPTOP_BIN, find_program
from tests.cluster.conftest import PROGRAMS


@pytest.fixture
def student(shell):
    """Return a shell on a machine without Slurm, as `make lab` opens it, with a job file.

    This machine may have Slurm's programs, which would come first.
    """
    shell.environment["PATH"] = f"{PROGRAMS}:{LAPTOP_BIN}:{os.environ['PATH']}"
    shell.write("job.sbatch", 'echo "got $*"; exit ${1:-0}', "--job-name=mine")
    return shell


def submitted(done):
    return re.fullmatch(r"Submitted batch job (\d+)\n", done.stdout)[1]


def test_sbatch_runs_the_job_file_with_its_arguments(student):
    job = submitted(student.run("sbatch", "--wait", "job.sbatch", "0", "a word"))
    assert (student.folder / f"slurm-{job}.out").read_text() == "got 0 a word\n"
    failed = student.run("sbatch", "--wait", "job.sbatch", "3", ok=False)
    assert "NonZeroExitCode" in failed.stderr


def test_parsable_array_and_dependency(student):
    array = student.run("sbatch", "--parsable", "--array=0-2", "job.sbatch").stdout.strip()
    after = ["sbatch", "--wait", f"--dependency=afterok:{array}", "job.sbatch"]
    last = submitted(student.run(*after))
    words = ["sacct", "-X", "-n", "-P", "-o", "JobID,State", "-j", f"{array},{last}"]
    rows = student.run(*words).stdout.split()
    assert rows == [f"{array}_{n}|COMPLETED" for n in range(3)] + [f"{last}|COMPLETED"]


def test_squeue_lists_and_scancel_ends(student):
    student.write("long.sbatch", "sleep 60", "--job-name=long")
    job = submitted(student.run("sbatch", "long.sbatch"))
    assert f"{job:>12}" in student.run("squeue", "--me").stdout
    assert job not in student.run("squeue", "--jobs=99999", ok=False).stdout
    student.run("scancel", job)
    student.wait(job, ok=False)
    assert job not in student.run("squeue", "--me").stdout
    table = student.run("sacct", "-X", "--jobs", job, "--format=JobID,State%20,Elapsed").stdout
    assert table.split()[:3] == ["JobID", "State", "Elapsed"]
    assert "CANCELLED" in table


def test_scancel_sends_a_signal_to_the_steps_only(student):
    (student.folder / "step.py").write_text(
        "import signal\n"
        "signal.signal(signal.SIGUSR1, lambda *_: print('warned', flush=True))\n"
        "open('ready', 'w')\n"
        "signal.pause()\n"
    )
    student.write("trap.sbatch", "python step.py; echo after")
    job = submitted(student.run("sbatch", "trap.sbatch"))
    student.until((student.folder / "ready").exists)
    student.run("scancel", "--signal=USR1", job)
    student.wait(job)
    assert (student.folder / f"slurm-{job}.out").read_text() == "warned\nafter\n"


@pytest.mark.parametrize(
    "words",
    [
        ("sbatch",),
        ("sbatch", "missing.sbatch"),
        ("sbatch", "-Y", "job.sbatch"),
        ("scancel",),
        ("scancel", "4711"),
        ("sacct", "--user=root"),
        ("sacct", "--format=Color"),
    ],
    ids=" ".join,
)
def test_anything_else_gets_one_sentence(student, words):
    done = student.run(*words, ok=False)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(words[0])


def test_a_chosen_cluster_is_not_taken_for_the_laptop(student):
    student.choose("snellius")
    assert "your site is snellius" in student.run("sbatch", "job.sbatch", ok=False).stderr


def test_only_a_real_slurm_counts_as_one(student, monkeypatch):
    monkeypatch.setenv("PATH", str(LAPTOP_BIN))
    assert find_program("sbatch") is None
    real = student.folder / "sbatch"
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    monkeypatch.setenv("PATH", f"{LAPTOP_BIN}:{student.folder}")
    assert find_program("sbatch") == str(real)


def test_choosing_a_site_without_slurm_puts_the_words_first(student):
    """The machine may have Slurm's programs, as a login node or a box that is down."""
    student.environment["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"
    for site, first in (("laptop", True), ("box", False)):
        student.cluster("use", site)
        found = student.run("bash", "-c", ". ~/.dl-course/site.sh; command -v sbatch", ok=None)
        assert (found.stdout.strip() == str(LAPTOP_BIN / "sbatch")) == first
