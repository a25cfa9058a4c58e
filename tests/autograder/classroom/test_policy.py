"""Overrides, late days, extensions, excuses and drops: applied after measuring, in order."""

import csv
import io
import json
import time
from dataclasses import replace

import pytest

from autograder.codes import CheckStatus, FindingCode, GradeStatus
from autograder.notes import make_note
from autograder.report.signs import notice
from autograder.settings.rubric import FOLDER, load_rubric
from autograder.verdict import TIME_UNREADABLE, Check, Grade
from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

DUE = "due: {'02': '2026-03-01T23:59:00+00:00'}\n"


@pytest.fixture
def graded(tmp_path, grade):
    """Return a function that gives one student's score, status and adjustments for given files."""
    folder = hand_in(tmp_path / "class" / "ada" / "02", answers=RIGHT_ANSWERS | {"s4_epoch_s": "9"})

    def run(handed_in="2026-03-01 20:00:00 UTC", **files):
        (folder / "timestamp.txt").write_text(handed_in)
        words = []
        for name, text in files.items():
            path = tmp_path / f"{name}.file"
            path.write_text(text)
            value = text if name == "timezone" else path
            words += late_rules(tmp_path, text) if name == "rules" else setting(name, value)
        result = grade(tmp_path / "class", *words)
        if result.exit_code == 2:
            return result.output
        line = next(csv.DictReader(io.StringIO((result.folder / "grades.csv").read_text())))
        return line["score"], line["status"], line["adjustments"]

    return run


def test_without_any_policy_the_measured_score_stands(graded):
    assert graded() == ("9.6", "graded", "")


@pytest.mark.parametrize(
    ("step", "score", "late"),
    [(0.5, (9.5, 9.6), (9.5, 9.3)), (0.4, (9.6, None), (9.2, 9.3)), (6.4, (10, 9.6), (6.4, 9.3))],
)
def test_the_total_is_rounded_after_late_days_but_not_points_by_hand(
    tmp_path, graded, grade, step, score, late
):
    graded()

    def row(*more):
        path = grade(tmp_path / "class", "--set", f"round={step}", *more).folder / "grades.json"
        [found] = json.loads(path.read_text())["grades"]
        return found["score"], found["unrounded"]

    assert row() == score
    (tmp_path / "o.csv").write_text("student,lesson,points,reason\nada,02,7.7,talk\n")
    assert row("--set", f"overrides={tmp_path / 'o.csv'}") == (7.7, None)
    rules = late_rules(tmp_path, "due: {'02': '2026-02-28T23:59:00+00:00'}\npenalty_a_day: 3%")
    assert row(*rules) == late


def test_a_step_larger_than_a_lesson_is_refused(tmp_path, graded, grade):
    graded()
    done = grade(tmp_path / "class", *setting("round", 10.5))
    assert done.exit_code == 2
    assert "10 points" in done.output


DAY = "2026-03-01T2"  # due at 23:59
JOBS = [("1234", "0:00"), ("1235", "1:00")]
WEEK = 1772445600  # when the jobs began: the day after


def accounting(jobs, zone="+00:00"):
    rows = ["jobid|state|submit|start|end|nodelist|ncpus"]
    for job, hour in jobs:
        submit = "2026-03-02T09:00:00" if hour == "late" else f"{DAY}{hour}:00"
        rows.append(f"{job}|COMPLETED|{submit}{zone}|{WEEK - 60}|{WEEK + 600}|n1|2")
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("handed_in", "jobs", "rules", "lost"),
    [
        ("2026-03-02T13:00:00+00:00", JOBS, "by: submit", "0.4"),  # the answers are late
        ("2026-03-02T13:00:00+00:00", JOBS, "by: hand-in", "1"),
        ("2026-03-02T13:00:00+00:00", JOBS[:1], "by: submit", "1"),  # a job is unknown
        ("2026-03-04T13:00:00+00:00", JOBS, "by: submit\ngrace: 1", "3"),
        ("2026-03-04T13:00:00+00:00", JOBS, "by: submit\ngrace: 3", "1.2"),
        ("2026-03-02T13:00:00+00:00", [JOBS[0], ("1235", "late")], "by: submit", "1"),
        ("2026-03-02T13:00:00+00:00", JOBS, "by: submit\nfree_days: 1", "0"),
    ],
)
def test_a_job_that_was_submitted_in_time_may_run_late(graded, handed_in, jobs, rules, lost):
    """6 of lesson 02's 10 points are for runs, and a day costs a tenth."""
    policy = f"{DUE}penalty_a_day: 10%\n{rules}\n"
    found = graded(handed_in, rules=policy, accounting=accounting(jobs))
    assert round(9.6 - float(found[0]), 2) == float(lost)
    if lost in ("0.4", "1.2"):
        assert all(text in found[2] for text in ("2026-03-01 21:00", handed_in[:10]))


BY_SUBMIT = f"{DUE}penalty_a_day: 10%\nby: submit\n"


def test_a_late_job_that_gave_no_points_costs_none(tmp_path, graded):
    """The points of the Keras program, whose job was submitted in time, are its only ones."""
    folder = tmp_path / "class" / "ada" / "02"
    failed = make_record(
        source="torch", run="77aa77aa", job_id="1235", test_accuracy=0.5, seconds=(2.0,)
    )
    hand_in(folder, torch=failed, answers={})
    late = accounting([JOBS[0], ("1235", "late")])
    found = graded("2026-03-02T13:00:00+00:00", rules=BY_SUBMIT, accounting=late)
    in_time = graded("2026-03-02T13:00:00+00:00", rules=BY_SUBMIT, accounting=accounting(JOBS))
    assert found[0] == in_time[0]


@pytest.mark.parametrize(
    ("zone", "jobs", "lost"),
    [("Etc/UTC", JOBS, "0.4"), ("Etc/GMT-3", JOBS, "0.4"), ("Etc/GMT+3", JOBS, "1")],
)
@pytest.mark.parametrize("machine", ["UTC", "Asia/Tokyo"])
def test_times_of_jobs_are_in_the_zone_of_the_class(graded, monkeypatch, machine, zone, jobs, lost):
    """Jobs were submitted at 20:00 and 21:00 there, and are due at 23:59 UTC."""
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        words = {"rules": BY_SUBMIT, "accounting": accounting(jobs, zone=""), "timezone": zone}
        found = graded("2026-03-02T13:00:00+00:00", **words)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert round(9.6 - float(found[0]), 2) == float(lost)


def test_times_of_jobs_without_a_zone_are_refused_where_they_decide(graded):
    found = graded("2026-03-02T13:00:00+00:00", rules=BY_SUBMIT, accounting=accounting(JOBS, ""))
    assert "timezone: Europe/Berlin" in found
    by_hand_in = BY_SUBMIT.replace("submit", "hand-in")
    assert graded(rules=by_hand_in, accounting=accounting(JOBS, zone=""))[0] == "9.6"


@pytest.mark.parametrize(
    ("handed_in", "policy", "score", "words"),
    [
        ("2026-03-01 20:00:00 UTC", "penalty_a_day: 10%", "9.6", ""),
        ("2026-03-02 00:00:00 UTC", "penalty_a_day: 10%", "8.6", "1 day late"),
        ("2026-03-01 20:00:00 America/Los_Angeles", "penalty_a_day: 10%", "8.6", "1 day late"),
        ("2026-03-03T20:00:00+00:00", "penalty_a_day: 10%\nfree_days: 1", "8.6", "1 of them free"),
        ("2027-03-09 20:00:00 UTC", "penalty_a_day: 10%", "0", "days late"),
        ("some day", "penalty_a_day: 10%", "9.6", TIME_UNREADABLE),
    ],
)
def test_late_days(graded, handed_in, policy, score, words):
    found = graded(handed_in, rules=DUE + policy + "\n")
    assert float(found[0]) == float(score)
    assert words in found[2]


def test_extensions_move_the_due_time(graded):
    late = "2026-03-03 20:00:00 UTC"
    longer = "student,lesson,days,reason\nada,02,3,ill\n"
    found = graded(late, rules=DUE + "penalty_a_day: 10%\n", extensions=longer)
    assert found == ("9.6", "graded", "extension of 3 days: ill")


def test_overrides_and_the_order_of_things(graded):
    late = "2026-03-02 20:00:00 UTC"
    rules = DUE + "penalty_a_day: 10%\n"
    header = "student,lesson,check,points,reason\n"
    check = graded(late, rules=rules, overrides=header + "ada,02,answers,2,shown in class\n")
    assert check[0] == "9.0"  # the check first, then the late day
    total = graded(late, rules=rules, overrides=header + "ada,02,,9.5,agreed\n")
    assert total[0] == "9.5"  # a changed total is the last word
    excused = graded(late, rules=rules, overrides=header + "ada,02,,excused,ill\n")
    assert excused[:2] == ("", "excused")


def test_a_reason_that_was_seen_is_settled_until_it_changes(tmp_path, grade):
    table = tmp_path / "seen.csv"

    def looks(*words):
        rows = csv.DictReader((grade(tmp_path / "class", *words).folder / "grades.csv").open())
        return {row["student"]: (row["look"], row["adjustments"]) for row in rows}

    for student in ("ada", "ben"):
        hand_in(tmp_path / "class" / student / "02")
    reason, _ = looks()["ada"]
    table.write_text(f"student,lesson,check,points,reason\nada,02,{reason},seen,a pair\n")
    found = looks(*setting("overrides", table))
    assert (found["ada"], bool(found["ben"][0])) == (("", ""), True)
    hand_in(tmp_path / "class" / "abe" / "02")
    found = looks(*setting("overrides", table))["ada"]
    assert ("abe, ben" in found[0], found[1]) == (True, f"{reason}: no such reason to look")


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
    assert "d.zip" in row(*words)["look"]
    assert "a; b.zip" not in row(*words)["look"]


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


# --- who is in the class ----------------------------------------------------------------------


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


# --- what the class's table says about it -----------------------------------------------------


SHARED = make_note(FindingCode.SHARED_RUN, name="eve")
OTHER = make_note(FindingCode.NOT_IN_ROSTER)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"adjustments": (TIME_UNREADABLE,), "untimed": True}, "lost points: b"),
        ({"adjustments": ("2 less",), "score": 1, "findings": (SHARED,)}, f"{SHARED}; 2 less"),
        ({"findings": (SHARED, OTHER)}, f"{SHARED} (+1)"),
    ],
)
def test_no_notice_hides_another(row, said):
    marks = (Check("a", "", 2, 2, CheckStatus.PASSED, "", ""),
             Check("b", "", 2, 1, CheckStatus.FAILED, "", ""))  # fmt: skip
    plain = Grade("ada", "02", "T", "full", GradeStatus.GRADED, 3, 4, raw_score=3, checks=marks)
    assert notice(replace(plain, **row)) == said


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
        assert ("waiting" in moodle["Feedback"], cells["waiting"] != "0.0") == (waits, waits)
        assert ("02 A report" in (result.folder / "canvas.csv").read_text()) != waits
        return result.table[0][2], codes, waits, line["max_score"], result.exit_code

    assert looked_at() == ("1/1", ["check waits"], True, "3.0", 1)
    changes.write_text("student,lesson,check,points,reason\nada,02,talk,1.5,a clear talk\n")
    assert looked_at() == ("2.5/3", [], False, "3.0", 0)
    changes.write_text("student,lesson,check,points,reason\nada,02,,3,agreed\n")
    assert looked_at() == ("3/3", [], False, "3.0", 0)
    changes.write_text("student,lesson,check,points,reason\nada,02,,2,oral exam\n")
    assert looked_at() == ("2/3", [], False, "3.0", 0)
