"""Tests of the results that people rely on after each stage of the term."""

import csv
import io
import re
from itertools import pairwise

import pytest

from autograder.codes import FindingCode
from tests.autograder.term.hand_ins import PEOPLE
from tests.autograder.term.play import STAGES, Stage, play

pytestmark = pytest.mark.slow

Points = dict[tuple[str, str], float | None]


def all_of(lesson: str, **other: float | None) -> Points:
    return {(student, lesson): other.get(student, 10.0) for student in PEOPLE}


# The points that each stage adds or changes. All others must stay as they were.
NEW: dict[str, Points] = {
    "week 1": all_of("01", ben=8.0, ivo=7.0, kim=2.0),
    "week 2": all_of("02", gil=None, hana=9.0),
    "week 3": all_of("07", gil=None, ben=8.89),
    "answered": {("kim", "01"): 5.0, ("hana", "02"): 9.0},  # only kim's request was granted
    "again": {("ivo", "01"): 10.0},
}
TERMINAL = FindingCode.TERMINAL_COPY.heading
# All findings in the third week, apart from lost points. Nobody else has any.
NOTICED = {
    ("kim", "01"): [TERMINAL],
    ("ben", "02"): [FindingCode.MARKED_LATE.heading],
    ("eva", "07"): [FindingCode.BY_PARTNER.heading.format(name="dan")],
}
ADJUSTED = {
    ("ben", "01"): ["submitted 2 days late", "2 points less for 2 late days"],
    ("finn", "02"): ["extension of 2 days: ill"],
}


@pytest.fixture(scope="module")
def term(tmp_path_factory) -> dict[str, Stage]:
    return dict(play(tmp_path_factory.mktemp("term")))


@pytest.mark.parametrize("stage", STAGES)
def test_the_right_students_have_the_right_points(term, stage):
    """No points are invented, merged or missing, and only those that should change do."""
    expected: Points = {}
    for earlier in list(STAGES)[: list(STAGES).index(stage) + 1]:
        expected |= NEW.get(earlier, {})
    assert {key: row["score"] for key, row in term[stage].rows.items()} == expected
    assert term[stage].code == 1  # a person has to look at kim's output


@pytest.mark.parametrize(("before", "after"), list(pairwise(STAGES)))
def test_nothing_else_changes(term, before, after):
    first, then = term[before], term[after]
    same = [key for key in first.rows if key not in NEW.get(after, {})]
    assert len(same) >= len(first.rows) - 2
    for student, lesson in same:
        if first.rows[student, lesson]["status"] != "missing":
            assert first.record(student, lesson) == then.record(student, lesson), (student, lesson)
    if not after.startswith("week"):
        changed = {student for student, _ in NEW.get(after, {})}
        for student in PEOPLE.keys() - changed:
            assert first.page(student) == then.page(student), student


def test_what_is_noticed_is_that_and_nothing_else(term):
    week = term["week 3"]
    for (student, lesson), row in week.rows.items():
        if row["status"] == "missing":
            assert (student, row["look"]) == ("gil", [])
            continue
        grade = week.record(student, lesson)
        titles = [finding["title"] for finding in grade["findings"]]
        assert titles == NOTICED.get((student, lesson), []), (student, lesson)
        assert grade["adjustments"] == ADJUSTED.get((student, lesson), []), (student, lesson)
        assert grade["tier"] == ("unverified" if titles == [TERMINAL] else "self-consistent")
        assert FindingCode.SHARED_RUN not in [reason["code"] for reason in row["look"]]
    assert "28 graded, 2 missing, 2 for a person to look at" in week.output


# Student, lesson, check, words of its reason, and a place that the reason names.
REASONS = [
    ("ivo", "01", "params", "50,818", "01_numpy_10701.out"),
    ("ivo", "01", "gradients", "relative error of the gradients: 1", ""),
    *(
        ("kim", "01", check, "10801.out: copied from a terminal", "")
        for check in ("params", "steps", "order", "gradients", "accuracy")
    ),
    ("hana", "02", "own-numbers", "keras_throughput: ", "answers.txt"),
    ("ben", "07", "speed", "share of the ceiling: 0.6", "07_speed_70101.out"),
]


@pytest.mark.parametrize(("student", "lesson", "name", "words", "file"), REASONS)
def test_lost_points_have_their_reason_and_place(term, student, lesson, name, words, file):
    checks = {check["id"]: check for check in term["week 3"].record(student, lesson)["checks"]}
    lost = [name for name, check in checks.items() if check["score"] < check["points"]]
    assert lost == [n for s, le, n, *_ in REASONS if (s, le) == (student, lesson)]
    assert words in checks[name]["actual"] + checks[name]["told"]
    assert not file or file in [where["file"] for where in checks[name]["where"]]


def test_the_class_page_has_everybody_once_and_those_to_look_at_first(term):
    page = term["week 3"].text("index.html")
    first = re.findall(r'<th scope="row"><a href="[^"]*"><bdi>([^<]*)</bdi></a>', page)
    assert sorted(first) == sorted(name.replace("'", "&#39;") for name, *_ in PEOPLE.values())
    assert first[:2] == ["Kim Nobody-Else", "Ben Meyer"]


def test_all_tables_say_the_same_points(term):
    rows = term["again"].rows
    points = {key: row["score"] for key, row in rows.items() if row["score"] is not None}
    for name, student, lesson in (
        ("grades.csv", "student", "lesson"),
        ("nbgrader.csv", "student_id", "assignment"),
    ):
        rows = [
            row for row in csv.DictReader(io.StringIO(term["again"].text(name))) if row["score"]
        ]
        assert {(row[student], row[lesson][:2]): float(row["score"]) for row in rows} == points
