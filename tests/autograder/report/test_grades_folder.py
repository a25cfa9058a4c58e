"""The folder of --out: headings, pages for everybody, and which runs a page calls graded."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record, write_lines

STUDY = """
lesson: "01"
title: Ours
points: 1
runs: {train: {where: {source: ours}}}
checks:
  - {id: sizes, title: Two sizes, points: 1,
     require: [{metric: study_sizes, of: train, at_least: 2}]}
"""


def test_every_run_of_a_study_is_graded(tmp_path, grade):
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics/01.yaml").write_text(STUDY)
    for size, source in {1: "ours", 2: "ours", 4: "other"}.items():
        lines = make_record(lesson="01", source=source, size=size, run=f"{size}" * 8)
        write_lines(tmp_path / f"class/ada/01/job_{size}.out", lines)
    folder = grade(tmp_path / "class", "--rubrics", tmp_path / "rubrics").folder
    assert (folder / "students/ada.html").read_text().count("(not graded)") == 1
    runs = json.loads((folder / "records/ada.json").read_text())["grades"][0]["runs"]
    assert {run["workers"]: run["compared"] for run in runs} == {1: True, 2: True, 4: False}


@pytest.fixture
def graded(tmp_path, grade):
    for student, run in (("ada", "a" * 8), ("ben", "b" * 8)):
        write_lines(tmp_path / "class" / student / "02" / "a.out", make_record(run=run))
    roster = ["student,name", "ada,Ada", "ben,Ben </script>", "eva,Eva"]
    write_lines(tmp_path / "roster.csv", roster)
    return grade(tmp_path / "class", "--roster", tmp_path / "roster.csv").folder


def test_no_students_page_names_another(graded):
    for student in ("ada", "ben", "eva"):
        page = (graded / "students" / f"{student}.html").read_text()
        others = {"Ada", "Ben", "Eva"} - {student.capitalize()}
        assert not [name for name in others if re.search(rf"\b{name}\b", page)]
        assert "<script" not in page


def test_a_student_who_submitted_nothing_has_a_page_and_an_empty_record(graded):
    assert 'class="next"' in (graded / "students/eva.html").read_text()
    assert json.loads((graded / "records" / "eva.json").read_text())["grades"] == []
    rows = json.loads((graded / "grades.json").read_text())["grades"]
    assert {row["page"] for row in rows if row["student"] == "eva"} == {"eva.html"}


def test_changed_grades_are_listed_with_the_reason_until_others_change(tmp_path, grade):
    for student, run in (("ada", "a" * 8), ("ben", "b" * 8)):
        hand_in(tmp_path / "class" / student / "02", keras=make_record(run=run, job_id=student))
    (tmp_path / "o.csv").write_text("student,lesson,points,reason\nada,02,7,talk\n")
    override = setting("overrides", tmp_path / "o.csv")

    def graded(*words):
        out = grade(tmp_path / "class", *words).folder
        files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        changes = out / "changes.csv"
        rows = changes.read_text().splitlines()[1:] if changes.exists() else []
        return rows, files

    assert graded()[0] == []
    assert graded(*override)[0] == ["ada,02,10/10 graded,7/10 graded,override"]
    (tmp_path / "class/ben/02/answers.txt").unlink()
    rows, files = graded(*override)
    [row] = rows
    assert row.startswith("ben,02,10/10 graded,")
    assert row.endswith(",file")
    assert graded(*override) == (rows, files)
    shutil.rmtree(tmp_path / "class/ben")
    assert graded(*override)[0] == [row.split(",10/10")[0] + f",{row.split(',')[3]},no grade,file"]


class Killed(BaseException):
    """End the grader like a signal: nothing tidies up."""


@pytest.mark.parametrize("files", [0, 1, 2, 4, 7])
def test_a_grader_killed_between_two_files_lists_the_changes_when_run_again(
    tmp_path, grade, monkeypatch, files
):
    hand_in(tmp_path / "class/ada/02")
    (tmp_path / "o.csv").write_text("student,lesson,points,reason\nada,02,7,talk\n")
    words = (tmp_path / "class", *setting("overrides", tmp_path / "o.csv"))

    def contents(folder):
        found = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    grade(tmp_path / "class", out=tmp_path / "whole")
    grade(*words, out=tmp_path / "whole")
    grade(tmp_path / "class")
    left, replace = iter(range(files)), Path.replace

    def killed(path, target):
        if ".new" in path.parts and ".new" not in target.parts and next(left, None) is None:
            raise Killed
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(Killed):
        grade(*words)
    monkeypatch.undo()
    done = grade(*words)
    assert "ada 02: 10/10 graded → 7/10 graded, because of override" in done.output
    assert "interrupted" in done.output
    assert contents(done.folder) == contents(tmp_path / "whole")
    assert "interrupted" not in grade(*words).output
