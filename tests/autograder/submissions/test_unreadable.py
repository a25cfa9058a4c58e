"""Unreadable files and files that wait for a writer are reported instead of causing an error."""

import os
import re
from pathlib import Path

import pytest

from autograder.classroom import pool
from autograder.codes import FindingCode
from autograder.reading.files import read_files
from autograder.submissions.answers import answers_of
from autograder.submissions.walk import open_regular
from tests.autograder.make_record import hand_in
from tests.autograder.submissions.packages import line_of

UNREADABLE = "A file cannot be read, so nothing in it counts"


@pytest.fixture
def refused(monkeypatch):
    """Refuse to open files with the names in the returned set, because root may open all files."""
    names: set[str] = set()
    open_it = os.open

    def guarded(path, *words, **more):
        if os.path.basename(os.fsdecode(path)) in names:
            raise PermissionError(13, "Permission denied", path)
        return open_it(path, *words, **more)

    monkeypatch.setattr(os, "open", guarded)
    return names


# The unreadable file, and the points that are left.
REFUSED = [("answers.txt", "6/10"), ("timestamp.txt", "10/10"), ("02_torch_2.out", "5/10")]


@pytest.mark.parametrize(("name", "points"), REFUSED)
def test_what_cannot_be_read_is_said_and_the_rest_is_graded(tmp_path, grade, refused, name, points):
    folder = hand_in(tmp_path / "class" / "ada" / "02_serial")
    (folder / "timestamp.txt").write_text("2026-03-03 20:00:00 UTC\n")
    refused.add(name)
    result = grade(tmp_path / "class")
    line = line_of(result, "ada")
    assert line[2:4] == [points, "graded"]
    assert name in " ".join(line)
    page = (result.folder / "students" / "ada.html").read_text()
    assert re.search(f"{name}: (the file cannot be read: )?Permission denied", page)
    refused.clear()
    assert line_of(grade(tmp_path / "class"), "ada")[2] == "10/10"


def test_a_closed_folder_stops_nobody_elses_grade(tmp_path, grade, monkeypatch):
    for name in ("ada", "ben"):
        hand_in(tmp_path / "class" / name / "02_serial")
    closed = tmp_path / "class" / "ben"

    def guarded(name, itself):
        ask = getattr(os, name)

        def guard(path=".", *words, **more):
            if not isinstance(path, int):
                whole = Path(os.fsdecode(path))
                if closed in whole.parents or (itself and whole == closed):
                    raise PermissionError(13, "Permission denied", path)
            return ask(path, *words, **more)

        monkeypatch.setattr(os, name, guard)

    for name in ("stat", "lstat", "open"):
        guarded(name, itself=False)
    for name in ("scandir", "listdir"):
        guarded(name, itself=True)
    result = grade(tmp_path / "class")
    assert (line_of(result, "ada")[2], result.exit_code) == ("10/10", 1)
    assert line_of(result, "ben")[3] == "missing"
    page = (result.folder / "students" / "ben.html").read_text()
    assert "cannot be opened: Permission denied" in page


@pytest.mark.parametrize(
    "place", ["eve.zip", "eve.tar.gz", "eve/02/x_1.out", "eve/02/answers.txt", "eve/work.tgz"]
)
def test_a_pipe_is_never_waited_for(tmp_path, collect_and_grade, monkeypatch, place):
    monkeypatch.setattr(pool, "SECONDS", 10)
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    pipe = tmp_path / "class" / place
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    result = collect_and_grade(tmp_path / "class")
    assert line_of(result, "ada")[2] == "10/10"
    line = line_of(result, "eve")
    assert line[3] != "grader error"
    assert line[5] != ""


def test_a_file_that_became_a_pipe_or_a_folder_is_not_read(tmp_path):
    for name, make in (("a.out", os.mkfifo), ("b.out", os.mkdir)):
        make(tmp_path / name)
        with pytest.raises(OSError, match="no regular file"):
            open_regular(tmp_path / name)
        (run,) = read_files([tmp_path / name])
        assert run.problems[0].code == FindingCode.FILE_UNREADABLE
        answers, (finding,) = answers_of({tmp_path / name: name}, ())
        assert (answers, finding.title) == ({}, UNREADABLE)
    (run,) = read_files([tmp_path / "none.out"])
    assert "No such file" in run.problems[0].title


# --- when it was submitted ------------------------------------------------------------------

EARLY, LATE = "2026-03-01 10:00:00 UTC", "2026-03-09 10:00:00 UTC"
# Files with their times, and the time that counts.
TIMES = [
    ({"02_serial/timestamp.txt": EARLY, "02_serial/z/timestamp.txt": LATE}, LATE),
    ({"timestamp.txt": EARLY}, EARLY),
]


@pytest.mark.parametrize(("files", "counts"), TIMES)
def test_the_latest_time_in_a_lesson_counts(tmp_path, collect_and_grade, files, counts):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    for name, text in files.items():
        path = tmp_path / "class" / "ada" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    result = collect_and_grade(tmp_path / "class")
    record = (result.folder / "records" / "ada.json").read_text()
    assert f'"handed_in": "{counts}"' in record
