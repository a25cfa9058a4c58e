"""Tests of the results that people rely on after each stage of the term."""

import csv
import html
import io
import json
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from autograder.codes import FindingCode
from tests.autograder.term.hand_ins import PEOPLE
from tests.autograder.term.play import Stage, play

pytestmark = pytest.mark.slow

Points = dict[tuple[str, str], float | None]
STAGES = ("week 1", "week 2", "week 3", "answered", "again", "end", "once more")


def all_of(lesson: str, **other: float | None) -> Points:
    return {(one, lesson): other.get(one, 10.0) for one in PEOPLE}


# The points that each stage adds or changes. All others must stay as they were.
NEW: dict[str, Points] = {
    "week 1": all_of("01", ben=8.0, ivo=7.0, kim=2.0),
    "week 2": all_of("02", gil=None, hana=9.5),
    "week 3": all_of("07", gil=None, ben=8.89),
    "answered": {("kim", "01"): 5.0, ("hana", "02"): 9.5},  # only kim's request was granted
    "again": {("ivo", "01"): 10.0},
}
TERMINAL = FindingCode.TERMINAL_COPY.heading
LATE = FindingCode.MARKED_LATE.heading
# All findings in the third week, apart from lost points. Nobody else has any.
NOTICED = {
    ("kim", "01"): [TERMINAL],
    ("ben", "02"): [LATE],
    ("eva", "07"): [FindingCode.BY_PARTNER.heading.format(name="dan")],
}
ADJUSTED = {
    ("ben", "01"): ["submitted 2 days late", "2 points less for 2 late days"],
    ("finn", "02"): ["extension of 2 days: ill"],
}


@pytest.fixture(scope="module")
def term(tmp_path_factory) -> dict[str, Stage]:
    return dict(play(tmp_path_factory.mktemp("term")))


def text_of(page: str) -> str:
    """Return the visible text of a page."""
    body = page.partition("<body")[2].partition("<script")[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def names_of_others(student: str) -> list[str]:
    return [name for one, (name, *_) in PEOPLE.items() if one != student]


# --- before grading -----------------------------------------------------------------------------


def test_what_is_released_has_gaps_and_no_later_weeks(term):
    given = term["release"]
    assert given.code == 0
    lessons = sorted(path.name for path in (given.folder / "lessons").glob("[0-9]*"))
    assert [name[:2] for name in lessons] == ["00", "01", "02"]
    assert "NotImplementedError" in given.text("lessons/01_learning/train.py")
    names = [path.as_posix() for path in given.folder.rglob("*")]
    assert not [one for one in names if "/solutions" in one or "/rubrics/expected" in one]
    assert "Gaps whose solution" not in given.said, "no later lesson is in it"


def test_a_student_hears_before_handing_in_what_is_wrong_and_no_answer(term):
    said = term["self"].said
    assert term["self"].code == 1
    assert "found: keras_throughput: 99999" in said
    assert "s4_epoch_s: a number" in said
    assert "try: Leave out the first epoch" in said
    assert "7.2" not in said  # the answer


# --- grading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("called", STAGES)
def test_the_right_students_have_the_right_points(term, called):
    """No points are invented, merged or missing, and only those that should change do."""
    expected: Points = {}
    for stage in STAGES[: STAGES.index(called) + 1]:
        expected |= NEW.get(stage, {})
    found = {key: row["score"] for key, row in term[called].rows.items()}
    assert found == expected
    assert term[called].code == 1  # a person has to look at kim's output


@pytest.mark.parametrize(("before", "after"), list(pairwise(STAGES)))
def test_nothing_else_changes(term, before, after):
    first, then = term[before], term[after]
    same = [key for key in first.rows if key not in NEW.get(after, {})]
    assert len(same) >= len(first.rows) - 2
    for student, lesson in same:
        if first.rows[student, lesson]["status"] != "missing":
            assert first.record(student, lesson) == then.record(student, lesson), (student, lesson)
    if not after.startswith("week"):
        changed = {one for one, _ in NEW.get(after, {})}
        for student in PEOPLE.keys() - changed:
            assert first.page(student) == then.page(student), student


def test_what_is_noticed_is_that_and_nothing_else(term):
    week = term["week 3"]
    for (student, lesson), row in week.rows.items():
        if row["status"] == "missing":
            assert (student, row["look"]) == ("gil", [])
            continue
        grade = week.record(student, lesson)
        found = [one["title"] for one in grade["findings"]]
        assert found == NOTICED.get((student, lesson), []), (student, lesson)
        assert grade["adjustments"] == ADJUSTED.get((student, lesson), []), (student, lesson)
        assert grade["tier"] == ("unverified" if found == [TERMINAL] else "self-consistent")
        assert FindingCode.SHARED_RUN not in [reason["code"] for reason in row["look"]]
    assert "28 graded, 2 missing, 2 for a person to look at" in week.said


# Student, lesson, check, words of its reason, and a place that the reason names.
REASONS = [
    ("ivo", "01", "params", "50,818", "01_numpy_10701.out"),
    ("ivo", "01", "gradients", "relative error of the gradients: 1", ""),
    *(
        ("kim", "01", check, "10801.out is a copy from a terminal", "")
        for check in ("params", "steps", "order", "gradients", "accuracy")
    ),
    ("hana", "02", "own-numbers", "keras_throughput: ", "answers.txt"),
    ("ben", "07", "speed", "share of the ceiling: 0.6", "07_speed_70101.out"),
]


@pytest.mark.parametrize(("student", "lesson", "name", "words", "file"), REASONS)
def test_lost_points_have_their_reason_and_place(term, student, lesson, name, words, file):
    checks = {one["id"]: one for one in term["week 3"].record(student, lesson)["checks"]}
    lost = [one for one in checks if checks[one]["score"] < checks[one]["points"]]
    assert lost == [n for s, le, n, *_ in REASONS if (s, le) == (student, lesson)]
    assert words in checks[name]["actual"] + checks[name]["told"]
    assert not file or file in [where["file"] for where in checks[name]["where"]]
    page = text_of(term["week 3"].page(student))
    assert checks[name]["advice"].replace("`", "").split(";")[0].lower() in page.lower()


def test_the_class_page_has_everybody_once_and_those_to_look_at_first(term):
    page = term["week 3"].text("index.html")
    first = re.findall(r'<th scope="row"><a href="[^"]*"><bdi>([^<]*)</bdi></a>', page)
    assert sorted(first) == sorted(name.replace("'", "&#39;") for name, *_ in PEOPLE.values())
    assert first[:2] == ["Ben Meyer", "Kim Nobody-Else"]
    assert "`" not in text_of(page)


# --- back to the students -----------------------------------------------------------------------


def test_moodle_gets_each_students_own_reasons(term):
    files = unpacked(term["feedback"].folder / "moodle-01-worksheet.zip")
    for student, (name, _, moodle, _) in PEOPLE.items():
        folder = f"{name}_{moodle}_assignfeedback_file_"
        page = text_of(files.pop(f"{folder}/feedback-01.html").decode())
        text = files.pop(f"{folder}/feedback-01.txt").decode()
        assert name in page
        assert not any(other in page + text for other in names_of_others(student))
        assert ("copy from a terminal" in page) == (student == "kim")
        assert ("50,890 parameters" in text) == (student in ("ivo", "kim"))
    assert files == {}


def test_canvas_gets_them_by_its_own_numbers(term):
    feedback = term["feedback"].folder
    numbers = {canvas: one for one, (_, canvas, _, _) in PEOPLE.items() if one != "gil"}
    files = unpacked(feedback / "canvas-02.zip")
    assert sorted(re.findall(r"_(1\d\d)_", " ".join(files))) == sorted(numbers)


def test_who_handed_in_again_has_the_points_of_the_better_net(term):
    before, after = (text_of(term[one].page("ivo")) for one in ("answered", "again"))
    assert "50,818" in before
    assert "50,818" not in after
    assert "01_numpy_10711.out" in after
    assert term["again"].rows["ivo", "01"]["look"] == []


# --- what platforms import ----------------------------------------------------------------------


def test_all_tables_say_the_same_points(term):
    end = term["end"]
    points = {key: row["score"] for key, row in end.rows.items()}
    plain = {(row["student"], row["lesson"]): row["score"] for row in table(end.text("grades.csv"))}
    assert {key: float(text) if text else None for key, text in plain.items()} == points
    nbgrader = {(row["student_id"], row["assignment"][:2]): row["score"]
                for row in table(end.text("nbgrader.csv"))}  # fmt: skip
    assert {key: float(text) for key, text in nbgrader.items() if text} == {
        key: score for key, score in points.items() if score is not None
    }


def test_canvas_and_moodle_get_theirs_at_their_own_maximum(term):
    end = term["end"]
    header, maxima, *lines = csv.reader(io.StringIO(end.text("canvas.csv")))
    at = {title[:2]: (n, float(maxima[n])) for n, title in enumerate(header) if title[:1] == "0"}
    assert {lesson: most for lesson, (_, most) in at.items()} == {"01": 10, "02": 20, "07": 10}
    assert not any("Essay" in title for title in header)  # not ours to change
    by_number = {canvas: one for one, (_, canvas, _, _) in PEOPLE.items()}
    for line in lines:
        for lesson, (column, most) in at.items():
            score = end.rows[by_number[line[1]], lesson]["score"]
            assert line[column] == ("" if score is None else str(round(score * most / 10, 2)))
    sheet = {row["Full name"]: row for row in table(end.text("moodle-01-worksheet.csv"))}
    for student, (name, *_) in PEOPLE.items():
        assert float(sheet[name]["Grade"]) == pytest.approx(10 * end.rows[student, "01"]["score"])
        assert "on time" not in sheet[name]["Feedback"]  # this is for the instructor


def test_gradescope_gets_one_students_points(term):
    made = json.loads(term["gradescope"].text("results.json"))
    assert made["score"] == 10
    assert not any(name in json.dumps(made) for name in names_of_others("hana"))


def test_grading_the_same_again_writes_the_same_bytes(term):
    first, then = (
        {
            path.relative_to(stage.folder): path.read_bytes()
            for path in sorted(stage.folder.rglob("*"))
            if path.is_file() and not any(part.startswith(".") for part in path.parts[-2:])
        }
        for stage in (term["end"], term["once more"])
    )
    assert len(first) > 2 * len(PEOPLE)
    assert first == then
