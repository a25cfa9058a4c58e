"""Late days, extensions and overrides: applied after measuring, in order."""

import csv
import io
import json

import pytest

from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in

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
            words += late_rules(tmp_path, text) if name == "rules" else setting(name, path)
        result = grade(tmp_path / "class", *words)
        line = next(csv.DictReader(io.StringIO((result.folder / "grades.csv").read_text())))
        return line["score"], line["status"], line["adjustments"]

    return run


@pytest.mark.parametrize(
    ("handed_in", "policy", "score", "words"),
    [
        ("2026-03-01 20:00:00 UTC", "penalty_a_day: 10%", "9.67", ""),
        ("2026-03-02 00:00:00 UTC", "penalty_a_day: 10%", "8.67", "1 day late"),
        ("2026-03-01 20:00:00 America/Los_Angeles", "penalty_a_day: 10%", "8.67", "1 day late"),
        ("2026-03-03T20:00:00+00:00", "penalty_a_day: 10%\nfree_days: 1", "8.67", "1 of them free"),
        ("2027-03-09 20:00:00 UTC", "penalty_a_day: 10%", "0", "days late"),
        ("some day", "penalty_a_day: 10%", "9.67", ""),
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
    assert found == ("9.67", "graded", "extension of 3 days: ill")


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
    [
        (0.5, (9.5, 9.67), (9.5, 9.37)),
        (0.4, (9.6, 9.67), (9.2, 9.37)),
        (0.91, (10, 9.67), (9.1, 9.37)),
    ],
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
