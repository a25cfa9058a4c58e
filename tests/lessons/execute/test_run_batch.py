"""Tests of `lessons run --batch`: each lesson as a job, here of the laptop site."""

import json
import os
import signal
import time

import psutil
import pytest

pytestmark = pytest.mark.ranks

LESSON = """# %% [markdown]
# # 02 · {title}

# %% tags=["parameters"]
profile = "smoke"
repeats = 1

# %%
{cell}
"""


def add_lesson(course, name, cell):
    folder = course / "solutions" / name
    folder.mkdir()
    (folder / "lesson.py").write_text(LESSON.format(title=name, cell=cell))
    (folder / "job.sbatch").write_text(
        (course / "solutions" / "01_small" / "job.sbatch")
        .read_text()
        .replace("--nodes=2", "--nodes=1")
    )
    (folder / "train.py").write_text("print('trained', __import__('sys').argv[2])\n")


@pytest.mark.slow
def test_a_job_for_each_lesson_and_their_jobs_inside(course, lessons_process):
    add_lesson(
        course,
        "02_submits",
        "from cluster.jobs.notebook import submit_once\n"
        "[out] = submit_once('job.sbatch')\nprint(repeats, open(out).read())",
    )
    add_lesson(course, "03_fails", "1 / 0")
    out = course / "out"
    process = lessons_process(
        *("run", "--batch", "--site", "laptop", "-p", "repeats=3", "--out", out)
    )
    output, _ = process.communicate(timeout=200)
    assert process.returncode == 1, output
    lessons = json.loads((out / "summary.json").read_text())["lessons"]
    assert {one["lesson"]: one["status"] for one in lessons} == {
        "01_small": "passed",
        "02_submits": "passed",
        "03_fails": "failed",
    }
    assert "ZeroDivisionError" in output
    executed = (out / "02_submits_job" / "02_submits" / "02_submits.ipynb").read_text()
    assert "trained 14" in executed
    job = (out / "02_submits.sbatch").read_text()
    last = job.rstrip().splitlines()[-1]
    assert last.startswith("launch lessons run 02 --site laptop")
    printed = next(out.glob("lesson_02_*.out")).read_text()
    assert "02_submits: passed" in printed
    assert "\x1b" not in printed
    assert (out / "junit.xml").exists()


def test_a_job_that_dies_before_its_lesson_is_an_error_with_its_last_lines(course, lessons_process):
    """The lesson cannot be copied, because a file has the name of its folder."""
    out = course / "out"
    out.mkdir()
    (out / "01_small_job").write_text("in the way")
    process = lessons_process("run", "01", "--batch", "--site", "laptop", "--out", out)
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 1
    assert "01_small: error" in output
    assert "but it left no result" in output
    assert "| " in output


@pytest.mark.slow
def test_stopping_cancels_the_jobs(course, lessons_process):
    add_lesson(course, "02_sleeps", "open('begun', 'w').close()\nimport time\ntime.sleep(600)")
    out = course / "out"
    process = lessons_process(
        *("run", "02", "--batch", "--site", "laptop", "--out", out), start_new_session=True
    )
    begun = out / "02_sleeps_job" / "02_sleeps" / "begun"
    end = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert begun.exists()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    end = time.monotonic() + 20
    while running_in(course) and time.monotonic() < end:
        time.sleep(0.1)
    assert running_in(course) == []


def running_in(course):
    """Return processes with this test's course in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("COURSE_ROOT") == str(course) and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found
