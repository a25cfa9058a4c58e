"""The public checks of lesson 00: right solutions pass, each usual mistake gets its advice."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from advice import assert_advice, failure

from lessons.toolkit.checks import lesson_00

LESSON = (Path(__file__).parents[3] / "solutions/00_cluster/lesson.py").read_text("utf-8")

# Exercise 0.1
JOB = """#!/bin/bash
#SBATCH --job-name=00_cluster
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:05:00
#SBATCH --output=00_cluster_%j.out
#SBATCH --error=00_cluster_%j.err
set -euo pipefail
launch python -u train.py
"""
JOBS = [
    ("--ntasks=2", "--ntasks=", "value after the ="),
    ("per-node=2", "per-node=1", "1 x 1 is not 2"),
    ("--ntasks=2", "--ntasks=two", "whole number"),
    ("--ntasks=2", "--ntask=2", "--ntask\n"),
    ("00:05:00", "00:05", "which means 5 seconds"),
]


@pytest.mark.parametrize(("right", "wrong", "advice"), JOBS)
def test_job_files(right, wrong, advice, tmp_path):
    path = tmp_path / "job.sbatch"
    path.write_text(JOB)
    lesson_00.check_0_1(path)
    path.write_text(JOB.replace(right, wrong, 1))
    failed = failure(lesson_00.check_0_1, path)
    assert_advice(failed, advice)
    assert right not in str(failed)


def test_the_jobs_name_in_a_files_name(tmp_path):
    path = tmp_path / "job.sbatch"
    path.write_text(JOB.replace("=00_cluster_%j", "=%x_%j"))
    assert_advice(failure(lesson_00.check_0_1, path), "if the job is renamed")


def test_the_untouched_job_file_is_a_gap(tmp_path):
    path = tmp_path / "job.sbatch"
    lines = [line.split("=")[0] + "=" if line[:9] == "#SBATCH -" and "nodes=" not in line else line
             for line in JOB.splitlines()]  # fmt: skip
    path.write_text("\n".join(lines))
    assert "still a gap" in str(failure(lesson_00.check_0_1, path))
    assert_advice(failure(lesson_00.check_0_1, tmp_path / "nothing"), "no such job file")


def test_what_is_right_names_its_unit(tmp_path, capsys):
    (tmp_path / "job.sbatch").write_text(JOB.replace("00:05:00", "5"))
    lesson_00.check_0_1(tmp_path / "job.sbatch")
    assert "at most 5 minutes" in capsys.readouterr().out


# Exercise 0.2
NAMES = {
    "rank": ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
    "size": ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"),
    "local_rank": ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "PMI_LOCAL_RANK"),
}
NOBODY = {"rank": 0, "size": 1, "local_rank": 0}


def facts(environ, convert=int, order=1, default=NOBODY, names=None):
    found = dict(default)
    for fact, tried in (names or NAMES).items():
        for name in tried[::order]:
            if name in environ:
                found[fact] = convert(environ[name])
                break
    return found


FACTS = [
    (lambda environ: facts(environ, convert=str), "int()"),
    (lambda environ: facts(os.environ), "os.environ"),
    (lambda environ: facts(environ, order=-1), "SLURM_PROCID is the same in all processes"),
    (lambda environ, names=NAMES: facts(environ, names=names), "take them from NAMES"),
]


@pytest.mark.parametrize(("wrong", "advice"), FACTS)
def test_facts_of_a_task(wrong, advice):
    lesson_00.check_0_2(facts)
    assert_advice(failure(lesson_00.check_0_2, wrong), advice)


# Exercise 0.3
def core_hours(cores, elapsed):
    return cores * elapsed / 3600


def idle_share(jobs):
    held = sum(cores * elapsed for cores, elapsed, _ in jobs)
    return 1 - sum(worked for *_, worked in jobs) / held


def shares(jobs):
    return [1 - worked / (cores * elapsed) for cores, elapsed, worked in jobs]


COSTS = [
    (lambda cores, elapsed: cores * elapsed, "an hour has 3,600"),
    (lambda cores, elapsed: cores * elapsed / 60, "core minutes"),
    (lambda cores, elapsed: elapsed / 3600, "every core"),
]
SHARES = [
    (lambda jobs: 100 * idle_share(jobs), "not a percentage"),
    (lambda jobs: 1 - idle_share(jobs), "the rest was idle"),
    (lambda jobs: sum(shares(jobs)) / len(jobs), "it weighs more"),
]


@pytest.mark.parametrize(("wrong", "advice"), COSTS)
def test_core_hours(wrong, advice):
    lesson_00.check_0_3(core_hours, idle_share)
    assert_advice(failure(lesson_00.check_0_3, wrong, idle_share), advice)


@pytest.mark.parametrize(("wrong", "advice"), SHARES)
def test_idle_share(wrong, advice):
    assert_advice(failure(lesson_00.check_0_3, core_hours, wrong), advice)


# Exercise 0.4: what a shell makes of the program's two streams
PROGRAM = f"""
import sys
from lessons.toolkit.record import Run
run = Run("00", source="facts")
print("{lesson_00.WARNING}: it belongs to the error stream.", file=sys.stderr)
run.end()
"""
REDIRECTIONS = [
    ("> out.txt 2> err.txt", None),
    ("> out.txt 2>&1; touch err.txt", "2>&1"),
    ("&> out.txt; touch err.txt", "2>&1"),
]


@pytest.mark.parametrize(("redirection", "advice"), REDIRECTIONS)
def test_streams(redirection, advice, tmp_path):
    crash = "import sys\nif '--crash' in sys.argv: raise ValueError('seconds')\n"
    (tmp_path / "train.py").write_text(crash + PROGRAM)
    command = f"{sys.executable} -u train.py {redirection}"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, stdout=subprocess.DEVNULL)
    together = f"{sys.executable} -u train.py > all.txt 2>&1"
    subprocess.run(["bash", "-c", together], cwd=tmp_path)
    arguments = (tmp_path / "out.txt", tmp_path / "err.txt", tmp_path / "all.txt")
    if advice is None:
        lesson_00.check_0_4(*arguments)
    else:
        assert_advice(failure(lesson_00.check_0_4, *arguments), advice)


def test_both_streams_in_one_file(tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    files = [tmp_path / name for name in ("out.txt", "err.txt", "all.txt")]
    for redirection, passes in (("2>&1 > all.txt", False), ("> all.txt 2>&1", True)):
        for each in ("> out.txt 2> err.txt", redirection):
            line = f"{sys.executable} -u train.py {each}"
            subprocess.run(["bash", "-c", line], cwd=tmp_path, stdout=subprocess.DEVNULL)
        if passes:
            lesson_00.check_0_4(*files)
        else:
            assert_advice(failure(lesson_00.check_0_4, *files), "from left to right")


def test_a_file_of_an_earlier_line_does_not_count(tmp_path, monkeypatch):
    """Run the lesson's own cell after a right line in the terminal, with a wrong line."""
    monkeypatch.chdir(tmp_path)

    def typed(line):
        return subprocess.run(["bash", "-c", line])

    [cell] = re.findall(r"### BEGIN SOLUTION Exercise 0\.4.*?(?=^# %%)", LESSON, re.S | re.M)
    for line, passes in (("> out.txt 2> err.txt", True), ("1> out.txt", False)):
        Path("train.py").write_text(PROGRAM)
        wrong = f"{sys.executable} -u train.py {line}"
        right = f"{sys.executable} -u train.py > all.txt 2>&1"
        lines = {"apart": wrong, "together": right}
        filled = re.sub(r"^(apart|together) = .*$", r"\1 = lines['\1']", cell, flags=re.M)
        exec(filled, {"Path": Path, "lines": lines, "course": SimpleNamespace(typed=typed)})
        if passes:
            lesson_00.check_0_4(*map(Path, ("out.txt", "err.txt", "all.txt")))
    files = map(Path, ("out.txt", "err.txt", "all.txt"))
    assert_advice(failure(lesson_00.check_0_4, *files), "none")
