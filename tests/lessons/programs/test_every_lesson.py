"""Tests of every lesson: the solution earns all points, and a gap passes nothing."""

import json
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path

import pytest

from lessons.folders import lesson_folders
from tests.cluster.box.test_lessons_on_box import LESSONS as ON_THE_BOX
from tests.lessons.programs.all_points import course, earns_all_points
from tests.lessons.programs.break_it import leaves_its_traces
from tests.lessons.rehearsal.forked_ranks import rank_server

pytestmark = [pytest.mark.slow, pytest.mark.ranks]
ROOT = Path(__file__).parents[3]
LESSONS = sorted(lesson_folders(ROOT / "solutions"))
# Those on the box are run there, as its jobs, and earn all points there; so do these:
ELSEWHERE = {
    "00": "tests/lessons/programs/test_in_jupyterlab.py",
    "01": "tests/lessons/programs/test_in_jupyterlab.py",
    "02": "tests/test_demo.py",
    "06": "tests/cluster/jupyter/ondemand/test_session.py",
}
HERE = [lesson for lesson in LESSONS if lesson not in (*ON_THE_BOX, *ELSEWHERE)]


# Most of their time is loading PyTorch. Real launchers start the ranks of all others.
FORKED = ("11", "12", "13", "14", "17")
TIMED = ("04", "07")  # points for a speed, while two other tests use the cores


@pytest.mark.parametrize("lesson", HERE)
def test_the_solution_runs_and_earns_all_points(lesson, tmp_path, monkeypatch):
    with rank_server() if lesson in FORKED else nullcontext({}) as ranks_from:
        for name, value in ranks_from.items():
            monkeypatch.setenv(name, value)
        run_again_if_busy(lesson, tmp_path)


def run_again_if_busy(lesson: str, tmp_path: Path) -> None:
    try:
        run_and_earn_all_points(lesson, tmp_path / "once")
    except AssertionError:
        # On a busy machine a student, too, has to submit the job of a speed again.
        if lesson not in TIMED:
            raise
        run_and_earn_all_points(lesson, tmp_path / "again")


def run_and_earn_all_points(lesson: str, tmp_path: Path) -> None:
    tmp_path.mkdir()
    done = course(f"lessons run {lesson} --out {tmp_path}/run", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    [folder] = (tmp_path / "run").glob(f"{lesson}_*/")
    earns_all_points(lesson, folder, tmp_path)
    leaves_its_traces(lesson, folder)


# Each program's gaps of the others are tried in tests/lessons/checks/test_checks_03, _05 and _07.
UNTOUCHED = [lesson for lesson in LESSONS if lesson not in ("03", "05", "07")]


def test_an_untouched_gap_fails_its_check(tmp_path):
    done = course(f"lessons check {' '.join(UNTOUCHED)} --json", tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    results = defaultdict(list)
    for row in json.loads(done.stdout):
        results[row["exercise"].split(".")[0].zfill(2)].append(row["result"])
    assert [lesson for lesson in UNTOUCHED if "still a gap" not in results[lesson]] == []
    assert set(results["04"]) == {"still a gap"}  # nothing else is left to do there
