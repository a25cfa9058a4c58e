"""Tests of `lessons run`: real kernels, real failures, and nothing left behind."""

import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from tests.lessons.small_lessons import processes_with, write_lesson

SMALL = Path(__file__).parents[1] / "fixtures" / "course"


def fingerprint(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory, lessons_process):
    """Run lessons that pass, fail, hang, die and leave processes behind."""
    root = tmp_path_factory.mktemp("run") / "course"
    shutil.copytree(SMALL, root, ignore=shutil.ignore_patterns("__pycache__"))
    word = f"left-{uuid.uuid4().hex}"
    write_lesson(root, "02_fails", "print('before the fault')", "x = 1\n1 / (x - 1)", "print(2)")
    write_lesson(root, "03_hangs", "print('long', flush=True)\nimport time\ntime.sleep(600)")
    write_lesson(root, "04_dies", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    sleeper = f"['python', '-c', 'import time; time.sleep(600)', '{word}']"
    write_lesson(
        root,
        "05_leaves",
        f"import subprocess\nsubprocess.Popen({sleeper}, start_new_session=True)\nprint('left')",
    )
    write_lesson(root, "06_exits", "import sys\nprint(profile, repeats)\nsys.exit(0)", "print(2)")
    before = fingerprint(root / "solutions")
    environment = os.environ | {"COURSE_ROOT": str(root), "HOME": str(root)}
    out = root / "out"
    process = lessons_process(
        *("run", "--jobs", 3, "--cell-timeout", 6, "-p", "repeats=7", "--out", out), env=environment
    )
    output, _ = process.communicate(timeout=200)
    return {
        "code": process.returncode,
        "output": output,
        "out": out,
        "untouched": before == fingerprint(root / "solutions"),
        "word": word,
        "lessons": {
            lesson["lesson"]: lesson
            for lesson in json.loads((out / "summary.json").read_text())["lessons"]
        },
    }


def test_each_lesson_gets_its_own_verdict(mixed_run):
    assert mixed_run["code"] == 1, mixed_run["output"]
    assert {name: lesson["status"] for name, lesson in mixed_run["lessons"].items()} == {
        "01_small": "passed",
        "02_fails": "failed",
        "03_hangs": "timed out",
        "04_dies": "failed",
        "05_leaves": "passed",
        "06_exits": "passed",
    }
    assert "3 of 6 lessons passed" in mixed_run["output"]
    assert "02_fails (solutions): started, 4 code cells" in mixed_run["output"]
    assert mixed_run["untouched"]


def test_a_failure_names_cell_error_and_last_lines(mixed_run):
    lesson = mixed_run["lessons"]["02_fails"]
    assert lesson["failed_cell"] == 4  # parameters, the injected ones, print, this one
    assert lesson["failed_line"] == "x = 1"
    assert lesson["error"] == "ZeroDivisionError: division by zero"
    assert any("----> 2" in line for line in lesson["last_lines"])
    assert not any("\x1b" in line for line in lesson["last_lines"])
    for part in ("cell 4: x = 1", "ZeroDivisionError: division by zero", "| "):
        assert part in mixed_run["output"]


def test_a_limit_and_a_dead_kernel_say_so(mixed_run):
    assert "a cell took more than 6 s (--cell-timeout)" in mixed_run["lessons"]["03_hangs"]["error"]
    assert mixed_run["lessons"]["03_hangs"]["last_lines"][0] == "long"
    assert "the kernel died" in mixed_run["lessons"]["04_dies"]["error"]


def test_executed_notebooks_are_kept_also_of_failures(mixed_run):
    out = mixed_run["out"]
    for name in mixed_run["lessons"]:
        notebook = nbformat.read(out / name / f"{name}.ipynb", as_version=4)
        assert any(cell.get("outputs") for cell in notebook.cells) or name == "04_dies"
    assert "before the fault" in (out / "02_fails" / "02_fails.ipynb").read_text()
    assert {path.name for path in (out / "01_small").iterdir() if path.is_file()} == {
        *("01_small.ipynb", "train.py", "job.sbatch", "small_checks.py", "table.csv")
    }


def test_parameters_are_injected(mixed_run):
    small = (mixed_run["out"] / "01_small" / "01_small.ipynb").read_text()
    assert "profile smoke repeats 7 guess 4" in small


def test_processes_left_behind_are_stopped_and_named(mixed_run):
    assert mixed_run["lessons"]["05_leaves"]["left_running"]
    assert "05_leaves: left processes behind" in mixed_run["output"]
    assert processes_with(mixed_run["word"]) == []


def test_junit_has_a_case_per_lesson_and_the_reason_of_each_failure(mixed_run):
    suite = ElementTree.parse(mixed_run["out"] / "junit.xml").getroot()
    counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
    assert counts == ["6", "3", "0", "0"]
    failed = {case.get("name"): case[0].get("message") for case in suite if len(case)}
    assert set(failed) == {"02_fails", "03_hangs", "04_dies"}
    assert failed["02_fails"] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "repeat=3"], "there is no parameter repeat"),
        (["-p", "repeats"], "write name=value"),
        (["-p", "profile=full"], "disagree"),
        (["77"], "There is no lesson 77"),
        (["01_other"], "There is no lesson 01_other"),
        (["--site", "nowhere"], "there is no site nowhere"),
        (["--profile", "tiny"], "tiny"),
        (["--jobs", "0"], "--jobs"),
        (["--edition", "lessons"], "There are no lessons"),
    ],
)
def test_usage_errors_start_nothing(course, lessons_command, arguments, words):
    done = lessons_command("run", *arguments, "--out", course / "out")
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert not (course / "out").exists()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("\n# %%\nprofile = 'smoke'\n", "02_other: no cell is tagged `parameters`"),
        ('\n# %% tags=["parameters"]\nrepeats = 1\n', "02_other: there is no parameter profile"),
    ],
)
def test_a_lesson_that_cannot_be_set_stops_all(course, lessons_command, parameters, words):
    write_lesson(course, "02_other", "print(1)", parameters=parameters)
    done = lessons_command("run", "--out", course / "out")
    assert done.exit_code == 2
    assert words in done.output
    assert not (course / "out").exists()


def test_an_earlier_run_is_not_overwritten(course, lessons_command):
    (course / "out" / "01_small").mkdir(parents=True)
    done = lessons_command("run", "--out", course / "out")
    assert done.exit_code == 2
    assert "from an earlier run" in done.output


@pytest.mark.slow
def test_lessons_run_side_by_side_and_the_lesson_has_a_limit(course, lessons_process):
    """Two lessons wait for each other; the third never ends by itself."""
    for name, mine, other in (("02_a", "a", "b"), ("03_b", "b", "a")):
        write_lesson(
            course,
            name,
            f"import pathlib, time\npathlib.Path('../{mine}').touch()\n"
            f"while not pathlib.Path('../{other}').exists():\n    time.sleep(0.05)",
        )
    write_lesson(course, "04_slow", *["import time\ntime.sleep(3)"] * 20)
    process = lessons_process(
        *("run", "2", "3", "4", "--jobs", 3, "--timeout", 12, "--out", course / "out")
    )
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "02_a: passed" in output
    assert "03_b: passed" in output
    assert "04_slow: timed out" in output
    assert "the lesson took more than 12 s (--timeout)" in output
