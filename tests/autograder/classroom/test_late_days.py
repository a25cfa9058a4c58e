"""Late days, extensions and overrides: applied after measuring, in order."""

import csv
import io
import json
import time

import pytest

from autograder.verdict import TIME_UNREADABLE
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


@pytest.mark.parametrize(
    ("step", "score", "late"),
    [(0.5, (9.5, 9.6), (9.5, 9.3)), (0.4, (9.6, None), (9.2, 9.3)), (0.91, (10, 9.6), (9.1, 9.3))],
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
