"""Overrides, late days, extensions, excuses and drops: after measuring, from files, in order."""

import csv
import io

import pytest

from tests.autograder.make_record import RIGHT_ANSWERS, hand_in

DUE = "due: {'02': '2026-03-01T23:59:00+00:00'}\n"


@pytest.fixture
def graded(tmp_path, grade):
    """Score, status and what was adjusted for one student, with the given files."""
    folder = hand_in(tmp_path / "class" / "ada" / "02", answers=RIGHT_ANSWERS | {"s4_epoch_s": "9"})

    def run(handed_in="2026-03-01 20:00:00 UTC", **files):
        (folder / "timestamp.txt").write_text(handed_in)
        words = []
        for name, text in files.items():
            path = tmp_path / f"{name}.file"
            path.write_text(text)
            words += [f"--{name}", path]
        result = grade(tmp_path / "class", *words)
        if result.exit_code == 2:
            return result.output
        line = next(csv.DictReader(io.StringIO((result.folder / "grades.csv").read_text())))
        return line["score"], line["status"], line["adjustments"]

    return run


def test_without_any_policy_the_measured_score_stands(graded):
    assert graded() == ("9.67", "graded", "")


@pytest.mark.parametrize(
    ("handed_in", "policy", "score", "words"),
    [
        ("2026-03-01 20:00:00 UTC", "penalty_a_day: 10%", "9.67", ""),
        ("2026-03-02 00:00:00 UTC", "penalty_a_day: 10%", "8.67", "1 day late"),
        ("2026-03-03 20:00:00 UTC", "penalty_a_day: 10%", "7.67", "2 days late"),
        ("2026-03-01 20:00:00 America/Los_Angeles", "penalty_a_day: 10%", "8.67", "1 day late"),
        ("2026-03-03T20:00:00+00:00", "penalty_a_day: 10%\nfree_days: 1", "8.67", "1 of them free"),
        ("2026-03-09 20:00:00 UTC", "penalty_a_day: 10%\nlatest_days: 3", "0", "8 days late"),
        ("2027-03-09 20:00:00 UTC", "penalty_a_day: 10%", "0", "days late"),
        ("some day", "penalty_a_day: 10%", "9.67", "unknown, taken as on time"),
    ],
)
def test_late_days(graded, handed_in, policy, score, words):
    found = graded(handed_in, policy=DUE + policy + "\n")
    assert float(found[0]) == float(score)
    assert words in found[2]


def test_extensions_move_the_due_time(graded):
    late = "2026-03-03 20:00:00 UTC"
    longer = "student,lesson,days,reason\nada,02,3,ill\n"
    found = graded(late, policy=DUE + "penalty_a_day: 10%\n", extensions=longer)
    assert found == ("9.67", "graded", "extension of 3 days: ill")


def test_overrides_and_the_order_of_things(graded):
    late = "2026-03-02 20:00:00 UTC"
    rules = DUE + "penalty_a_day: 10%\n"
    header = "student,lesson,check,points,reason\n"
    check = graded(late, policy=rules, overrides=header + "ada,02,answers,2,shown in class\n")
    assert check[0] == "9.0"  # the check first, then the late day
    total = graded(late, policy=rules, overrides=header + "ada,02,,9.5,agreed\n")
    assert total[0] == "9.5"  # a changed total is the last word
    excused = graded(late, policy=rules, overrides=header + "ada,02,,excused,ill\n")
    assert excused[:2] == ("", "excused")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"overrides": "student,lesson,points,reason\nada,02,many,x\n"}, "no number"),
        ({"overrides": "student,lesson,points,reason\nada,02,nan,x\n"}, "no number"),
        ({"overrides": "student,lesson,points,reason\nada,02,-1,x\n"}, "no number"),
        ({"overrides": "student,lesson,points,reason\nada,02,5,\n"}, "`reason` is empty"),
        ({"overrides": "student,lesson,points\nada,02,5\n"}, "no column `reason`"),
        ({"overrides": "student,lesson,check,points,reason\nada,02,nets,5,x\n"}, "no check 'nets'"),
        ({"overrides": "student,lesson,points,reason\nada,99,5,x\n"}, "no rubric"),
        ({"policy": "due: {'02': tomorrow}\n"}, "is no time like"),
        ({"policy": "due: {'02': '2026-03-01T23:59'}\n"}, "needs its offset"),
        ({"policy": "due: {'99': '2026-03-01T23:59Z'}\n"}, "has no rubric"),
        ({"policy": "penalty_a_day: 0.1\n"}, "valid string"),
        ({"policy": "grace: 3\n"}, ":1:"),
        ({"extensions": "student,lesson,days\nada,02,two\n"}, "no number"),
        ({"times": "student,lesson,time\nada,02,noon\n"}, "is no time like"),
    ],
)
def test_mistakes_in_these_files_grade_nobody(graded, files, words):
    assert words in graded(**files)


def test_an_override_survives_grading_again(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02", answers={})
    overrides = tmp_path / "overrides.csv"
    overrides.write_text("student,lesson,points,reason\nada,02,7,talked\n")
    for _ in range(2):
        assert "7/10" in grade(tmp_path / "class", "--overrides", overrides).stdout
        hand_in(tmp_path / "class" / "ada" / "02")


def test_the_lowest_result_is_dropped(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "00")
    hand_in(tmp_path / "class" / "ada" / "02")
    policy = tmp_path / "policy.yaml"
    policy.write_text("drop_lowest: 1\n")
    lines = grade(tmp_path / "class", "--policy", policy).table
    states = {line[1]: line[3] for line in lines}
    assert states == {"00": "excused", "02": "graded"}
