"""Grading many submissions: any number of processes, and a broken grader."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from autograder.classroom import grading, pool
from autograder.reading import files
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record


def make_class(folder: Path, count: int) -> Path:
    for number in range(count):
        answers = RIGHT_ANSWERS | {"predict_accuracy": f"0.9{number:02d}"}
        keras = make_record(test_accuracy=round(0.96 + number / 1000, 4), job_id=str(number))
        hand_in(folder / f"s{number:02d}" / "02_serial", keras=keras, answers=answers)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return everything a person reads, without the grader's hidden cache of file times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    }


def test_any_number_of_processes_gives_the_same_bytes(tmp_path, grade):
    handed_in = make_class(tmp_path / "class", 12)
    first = grade(handed_in, "--jobs", 1, out=tmp_path / "one")
    second = grade(handed_in, "--jobs", 3, out=tmp_path / "two")
    assert first.stdout == second.stdout
    before = contents(tmp_path / "one")
    assert before == contents(tmp_path / "two")
    assert len(before) > 24
    (tmp_path / "one" / "index.html").write_text("somebody edited it")
    grade(handed_in, out=tmp_path / "one")  # once more
    assert contents(tmp_path / "one") == before


def test_a_fault_of_ours_is_no_zero_and_stops_nobody(tmp_path, grade, monkeypatch):
    handed_in = make_class(tmp_path / "class", 3)
    really = grading.grade_files

    def fails(files, settings, students, folder):
        if "s01" in students:
            raise ZeroDivisionError("a fault of ours")
        return really(files, settings, students, folder)

    monkeypatch.setattr(grading, "grade_files", fails)
    result = grade(handed_in)
    assert result.exit_code == 3
    lines = {line[0]: line for line in result.table}
    assert lines["s01"][2:4] == ["–/10", "grader error"]
    assert lines["s00"][3] == lines["s02"][3] == "graded"
    page = (tmp_path / "grades" / "students" / "s01.html").read_text()
    assert "not the student" in page
    assert "ZeroDivisionError" in page


def test_a_submission_without_end_is_stopped_wherever_it_is(tmp_path, grade, monkeypatch):
    """The time limit covers reading files, too, although errors in reading are only reported."""
    monkeypatch.setattr(pool, "SECONDS", 1)
    monkeypatch.setattr(files, "scan", lambda *of: time.sleep(60))
    result = grade(make_class(tmp_path / "class", 1), "--jobs", 1)
    assert [line[3] for line in result.table] == ["grader error"]
    assert "took more than 1 s" in (result.folder / "students" / "s00.html").read_text()


def test_a_worker_that_dies_takes_nobody_with_it(tmp_path, grade, monkeypatch):
    handed_in = make_class(tmp_path / "class", 12)
    really = grading.grade_files

    def dies(files, settings, students, folder):
        if "s05" in students:
            os.kill(os.getpid(), signal.SIGKILL)
        return really(files, settings, students, folder)

    monkeypatch.setattr(grading, "grade_files", dies)
    result = grade(handed_in, "--jobs", 2)
    assert result.exit_code == 3
    states = [line[3] for line in result.table]
    assert states.count("graded") == 11
    assert states[5] == "grader error"


PARENT = """
import os, resource, time
from autograder.classroom.pool import workers
if __name__ == "__main__":
    with workers(1, None) as pool:
        limit, _ = pool.submit(resource.getrlimit, resource.RLIMIT_DATA).result()
        print(pool.submit(os.getpid).result(), limit, flush=True)
        pool.submit(time.sleep, 600).result()
"""


def test_a_killed_parent_leaves_no_worker(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    words = [sys.executable, tmp_path / "parent.py"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        worker, limit = map(int, parent.stdout.readline().split())
        parent.kill()
        try:
            parent.communicate(timeout=30)  # its output ends when the worker has, too
        except subprocess.TimeoutExpired:
            os.kill(worker, signal.SIGKILL)
            raise
    assert limit == 2 << 30
