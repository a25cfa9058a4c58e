"""Tests of a stopped `lessons run`: no kernel, job or rank stays behind."""

import contextlib
import json
import os
import signal
import time
import uuid
from pathlib import Path

import psutil
import pytest

from tests.breadth import breadth
from tests.lessons.small_lessons import processes_with, wait_until, write_lesson

SLEEPERS = """
import subprocess, sys
sleep = [sys.executable, "-c", "import time; time.sleep(600)", "{word}"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
subprocess.Popen(["bash", "-c", "trap '' TERM INT; while :; do sleep 1; done", "{word}"])
subprocess.run(sleep)
"""

RANKS = """
import os, subprocess, sys
root = ["--allow-run-as-root"] if os.getuid() == 0 else []
sleep = [sys.executable, "-c", "import time; time.sleep(600)", "{word}"]
subprocess.run(["mpirun", *root, "--oversubscribe", "-np", "2", *sleep])
"""


def kernels_of(course):
    found = []
    for process in processes_with("ipykernel"):
        with contextlib.suppress(psutil.Error):  # another user's, or ended meanwhile
            if str(course) in str(process.environ()):
                found.append(process)
    return found


def interrupted(course, lessons_process, cell, count, signum, whole_group):
    word = uuid.uuid4().hex
    write_lesson(course, "02_sleeps", cell.strip().replace("{word}", word))
    write_lesson(course, "03_waits", "print(1)")
    process = lessons_process("run", "02", "03", "--out", course / "out", start_new_session=True)
    try:
        assert wait_until(lambda: len(processes_with(word)) >= count or process.poll() is not None)
        assert process.returncode is None, process.communicate()[0]
        (os.killpg if whole_group else os.kill)(process.pid, signum)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + signum, output
    assert wait_until(lambda: processes_with(word) == [], 5), processes_with(word)
    assert kernels_of(course) == []
    summary = json.loads((course / "out" / "summary.json").read_text())
    assert [lesson["status"] for lesson in summary["lessons"]] == ["stopped", "stopped"]
    assert (course / "out" / "02_sleeps" / "02_sleeps.ipynb").exists()


@pytest.mark.parametrize(
    ("signum", "whole_group"),
    breadth([(signal.SIGINT, True), (signal.SIGTERM, False)]),
    ids=["ctrl-c", "sigterm"],
)
def test_stopping_leaves_no_kernel_and_no_child(course, lessons_process, signum, whole_group):
    """A detached child ends, too, and one that ignores SIGTERM."""
    interrupted(course, lessons_process, SLEEPERS, 4, signum, whole_group)


JOBS = """
import subprocess, sys
from pathlib import Path
Path("job.sbatch").write_text('''#!/bin/bash
#SBATCH --ntasks=2
#SBATCH --output=%x_%j.out
source "$COURSE_SITE"
launch python -c "import time; time.sleep(600)" {word}
''')
for _ in range(2):  # the first takes all cores, so the second waits
    subprocess.run(["cluster", "submit", "job.sbatch"], check=True)
Path("submitted").touch()
import time; time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.ranks
def test_stopping_cancels_running_and_waiting_jobs(course, lessons_process):
    word = uuid.uuid4().hex
    cell = JOBS.strip().replace("{word}", word)
    write_lesson(course, "02_submits", cell)
    out = course / "out"
    process = lessons_process("run", "02", "--site", "laptop", "--out", out, start_new_session=True)
    submitted = out / "02_submits" / "submitted"
    assert wait_until(lambda: submitted.exists() and len(processes_with(word)) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert wait_until(lambda: processes_with(word) == [], 10), processes_with(word)
    time.sleep(1)  # time enough for a job that waited to begin
    assert processes_with(word) == []
    states = [
        json.loads(job.read_text())["state"]
        for job in (Path(os.environ["HOME"]) / ".dl-course" / "laptop" / "jobs").glob("*/job.json")
    ]
    assert len(states) == 2
    assert not {"PENDING", "RUNNING"} & set(states)


@pytest.mark.slow
@pytest.mark.ranks
def test_stopping_leaves_no_rank(course, lessons_process):
    interrupted(course, lessons_process, RANKS, 3, signal.SIGINT, True)
