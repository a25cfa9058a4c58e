"""Overrides: changed points, reasons that were seen, excuses, and points given by hand."""

import csv
import io
import json
import re

import pytest

from autograder.settings.rubric import FOLDER, load_rubric
from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import hand_in

DUE = "due: {'02': '2026-03-01T23:59:00+00:00'}\n"


def test_a_reason_that_was_seen_is_settled_until_it_changes(tmp_path, grade):
    table = tmp_path / "seen.csv"

    def looks(*words):
        rows = csv.DictReader((grade(tmp_path / "class", *words).folder / "grades.csv").open())
        return {row["student"]: (row["look"], row["adjustments"]) for row in rows}

    for student in ("ada", "ben"):
        hand_in(tmp_path / "class" / student / "02")
    reason, _ = looks()["ada"]
    table.write_text(f"student,lesson,check,points,reason\nada,02,{reason},seen\n")
    found = looks(*setting("overrides", table))
    assert (found["ada"], bool(found["ben"][0])) == (("", ""), True)
    hand_in(tmp_path / "class" / "abe" / "02")
    found = looks(*setting("overrides", table))["ada"]
    assert ("abe, ben" in found[0], found[1]) == (True, "")


def test_the_whole_cell_settles_all_its_reasons_also_of_no_lesson(tmp_path, grade):
    """A reason may contain the separator of the cell. A new reason is still to look at."""
    table = tmp_path / "seen.csv"

    def row(*words):
        done = grade(tmp_path / "class", *words)
        assert done.exit_code != 2, done.output
        with (done.folder / "grades.csv").open() as file:
            [found] = [row for row in csv.DictReader(file) if row["student"] == "ada"]
        return found

    place = tmp_path / "class" / "ada" / "notes"
    place.mkdir(parents=True)
    for name in ("a; b.zip", "c.zip"):
        (place / name).write_text("no zip")
    (place / "linked.out").symlink_to("a")
    before = row()
    assert "; b.zip" in before["look"]
    assert "c.zip" in before["look"]
    settled = [before[name] for name in ("student", "lesson", "look")]
    with table.open("w") as file:
        head = ["student", "lesson", "check", "points", "reason"]
        csv.writer(file).writerows([head, [*settled, "seen", "asked"]])
    words = setting("overrides", table)
    after = row(*words)
    assert (after["lesson"], after["look"], after["adjustments"]) == (before["lesson"], "", "")
    (place / "d.zip").write_text("no zip")
    (place / "e.out").symlink_to("a")
    assert re.findall(r"d\.zip|e\.out|linked", row(*words)["look"]) == ["d.zip", "e.out"]


@pytest.mark.parametrize("name", ["work.zip", "photo.jpg", "answers.txt"])
def test_the_page_of_an_excused_student_says_nothing_to_do(tmp_path, grade, name):
    place = tmp_path / "class" / "ada" / "02"
    place.mkdir(parents=True)
    (place / name).write_text("keras_epoch_s = 1\n")
    override = tmp_path / "overrides.csv"
    override.write_text("student,lesson,points,reason\nada,02,excused,ill\n")
    result = grade(tmp_path / "class", *setting("overrides", override))
    assert (result.exit_code, result.table[0][3]) == (0, "excused")
    page = (result.folder / "students/ada.html").read_text()
    assert "ill" in page
    assert "<dt>" not in page


def test_nbgrader_is_told_of_late_days_and_takes_no_override_for_one(tmp_path, grade):
    for student in ("ada", "ben"):
        folder = hand_in(tmp_path / "class" / student / "02")
        (folder / "timestamp.txt").write_text("2026-03-02 20:00:00 UTC")
    (tmp_path / "changes.csv").write_text(
        "student,lesson,points,reason\nben,02,3,talked\nada,00,4,x\n"
    )
    words = [*late_rules(tmp_path, DUE + "penalty_a_day: 10%\n")]
    words += setting("overrides", tmp_path / "changes.csv")
    out = grade(tmp_path / "class", *words).folder
    rows = csv.DictReader(io.StringIO((out / "nbgrader.csv").read_text()))
    columns = ("raw_score", "late_submission_penalty", "score")
    scores = [tuple(row[name] for name in columns) for row in rows]
    # Nothing was submitted for lesson 00.
    assert scores == [("4.0", "0.0", "4.0"), ("10.0", "1.0", "9.0"), ("3.0", "0.0", "3.0")]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("ada,00,,4,oral", ["00", "4/", "graded", "4 points by the instructor: oral"]),
        ("ada,0,,excused,ill", ["00", "–/", "excused", "excused by the instructor: ill"]),
        ("ada,00,CHECK,0,x", ["00", "–/", "missing", "CHECK: not judged here, so nothing to"]),
    ],
)
def test_an_override_of_what_was_not_handed_in(tmp_path, grade, row, cells):
    check = load_rubric(FOLDER / "00.yaml").checks[0].id
    row, *cells = (text.replace("CHECK", check) for text in (row, *cells))
    for student in ("ada", "ben"):
        hand_in(tmp_path / "class" / student / "02", answers={})
    changes = tmp_path / "changes.csv"
    changes.write_text(f"student,lesson,check,points,reason\n{row}\n")
    lines = grade(tmp_path / "class", *setting("overrides", changes)).table
    assert [line[:2] for line in lines] == [["ada", "00"], ["ada", "02"], ["ben", "02"]]
    found = [*lines[0][1:4], lines[0][-1]]
    assert all(said.startswith(cell) for said, cell in zip(found, cells, strict=True))


BY_HAND = """
lesson: "02"
title: A report
points: 3
checks:
  - {id: talk, title: The talk, by_hand: 2, report: [Question]}
  - {id: answer, title: An answer, points: 1, answers: [sure]}
answers:
  sure: {ask: Are you sure?, kind: prediction}
"""


def test_points_by_hand_wait_for_a_row_with_a_reason(tmp_path, grade):
    rubrics, folder = tmp_path / "rubrics", tmp_path / "class" / "ada" / "02"
    for path, text in ((rubrics / "02.yaml", BY_HAND), (folder / "answers.txt", "sure = yes\n"),
                       (folder / "report.md", "## Question\n\nWhy?\n")):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    changes, sheet = tmp_path / "changes.csv", tmp_path / "02.csv"
    sheet.write_text("Full name,Grade,Feedback\nada,,\n")

    def looked_at():
        words = setting("overrides", changes) if changes.exists() else ()
        result = grade(tmp_path / "class", "--rubrics", rubrics, *words, "--moodle", sheet)
        page = (result.folder / "students" / "ada.html").read_text()
        [line], [moodle], [cells] = (
            csv.DictReader(io.StringIO((result.folder / name).read_text()))
            for name in ("nbgrader.csv", "moodle-02.csv", "grades.csv")
        )
        [row] = json.loads((result.folder / "grades.json").read_text())["grades"]
        codes = [reason["code"] for reason in row["look"]]
        waits = "waits for your instructor" in page
        assert ("1 grade with points that wait" in result.stderr) == waits
        for score in (line["score"], moodle["Grade"]):
            assert bool(score) != waits
        assert ("agrees" in moodle["Feedback"], cells["waiting"] != "0.0") == (waits, waits)
        assert ("02 A report" in (result.folder / "canvas.csv").read_text()) != waits
        return result.table[0][2], codes, waits, line["max_score"], result.exit_code

    assert looked_at() == ("1/1", ["check waits"], True, "3.0", 1)
    changes.write_text("student,lesson,check,points,reason\nada,02,talk,1.5,a clear talk\n")
    assert looked_at() == ("2.5/3", [], False, "3.0", 0)
    changes.write_text("student,lesson,check,points,reason\nada,02,,3,agreed\n")
    assert looked_at() == ("3/3", [], False, "3.0", 0)
    changes.write_text("student,lesson,check,points,reason\nada,02,,2,oral exam\n")
    assert looked_at() == ("2/3", [], False, "3.0", 0)
