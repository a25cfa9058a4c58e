"""Downloads of each platform: the roster's ids find every student, none invented or missing."""

import json

import pytest

from autograder.codes import FindingCode
from autograder.submissions import manifest
from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.submissions.downloads import (
    FORMS,
    OUTPUTS,
    ROSTER,
    below,
    canvas,
    packed,
    work,
    write,
)

POINTS = {"ada": "8.25/10", "ben": "4.25/10", "zoe": "5.25/10"}  # 0.25 points are for the answer
LATE = FindingCode.MARKED_LATE.heading


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


@pytest.fixture
def roster(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER)
    return path


def rows(result) -> dict[tuple[str, str], list[str]]:
    return {(line[0], line[1]): line[2:] for line in result.table}


def points(result) -> dict[str, str]:
    assert len(rows(result)) == len(result.table)
    return {student: line[0] for (student, _), line in rows(result).items()}


@pytest.mark.parametrize(("platform", "name", "make"), FORMS.values(), ids=list(FORMS))
def test_each_student_is_found_by_the_rosters_ids(tmp_path, grade, roster, platform, name, make):
    place = write(tmp_path / "down", name, make())
    result = grade(place, "--roster", roster, "--profile", "smoke", platform=platform)
    assert set(rows(result)) == {(one, "01") for one in (*OUTPUTS, "kim")}
    assert points(result) == POINTS | {"kim": "–/10"}
    for student in OUTPUTS:
        record = json.loads((result.folder / "records" / f"{student}.json").read_text())
        (one,) = record["grades"]
        assert [f["title"] for f in one["findings"] if LATE not in f["title"]] == []


def test_the_worksheet_of_another_assignment_is_refused(tmp_path, collect, roster):
    name, make = FORMS["Moodle's folders"][1:]
    place = write(tmp_path / "down", name, make())
    (tmp_path / "01.csv").write_text("Identifier,Full name,Grade\nParticipant 99,Bob,\n")
    words = ("--roster", roster, "--worksheet", tmp_path / "01.csv")
    done = collect(place, *words, platform="moodle")
    assert done.exit_code == 2
    assert "worksheet" in done.output


def test_a_clone_of_the_whole_course_counts_its_lessons_alone(tmp_path, grade, roster):
    """Not the course's own programs, nor the table of answers that it has."""
    course = {"autograder/cli.py": b"", "autograder/rubrics/answer_hashes.json": b"flat = 3"}
    course |= {
        "lessons/00_cluster/train.py": b"",
        "lessons/toolkit/answers.py": b"",
        "LICENSE": b"",
    }
    mine = course | below("lessons/01_learning", work("ada"))
    place = write(tmp_path / "down", "01-learning-submissions", below("01-learning-ada-l", mine))
    link = place / "01-learning-ada-l/lessons/00_cluster/data"
    link.symlink_to("/scratch/data")  # in a lesson without work, so it concerns nobody
    done = grade(place, "--roster", roster, "--profile", "smoke", platform="github")
    assert points(done)["ada"] == POINTS["ada"]
    files = {path.name for path in (tmp_path / "collected/ada/01").rglob("*") if path.is_file()}
    assert files == {"01_numpy_1234.out", "answers.txt"}
    assert manifest.read(tmp_path / "collected/manifest.csv")["ada/01"].doubts == ""


@pytest.mark.parametrize("roster_given", [True, False])
def test_a_zip_that_macos_packed_calls_everybody_by_their_names(
    tmp_path, grade, roster, roster_given
):
    """The names are in UTF-8, although the zip does not say so."""
    students = {"Ada Lovelace": "ada", "Zo~~ Lee-Wei": "zoe"}
    files = {n: d for name, one in students.items() for n, d in below(name, work(one)).items()}
    place = write(tmp_path, "class.zip", below("class", files))
    place.write_bytes(place.read_bytes().replace(b"Zo~~", "Zoë".encode()))
    given = ["--roster", roster] if roster_given else []
    found = points(grade(place, "--profile", "smoke", *given))
    assert set(found) == (
        {"ada", "ben", "kim", "zoe"} if given else {"Ada Lovelace", "Zoë Lee-Wei"}
    )


def test_times_of_handing_in(tmp_path, grade, roster):
    rules = late_rules(tmp_path, "due: {'01': 2026-03-01T19:00:00+00:00}\npenalty_a_day: 10%\n")
    words = ("--roster", roster, *rules, "--profile", "smoke")
    for title in ("Gradescope's export", "JupyterHub's exchange"):
        platform, name, make = FORMS[title]
        result = grade(write(tmp_path / title, name, make()), *words, platform=platform)
        assert points(result)["ada"] == "7.25/10", title
        assert "time of submission" not in result.stderr
    marked = rows(grade(write(tmp_path, "canvas", canvas()), *words, platform="canvas"))[
        "ada", "01"
    ]
    assert marked[0] == "8.25/10"
    assert marked[-1].startswith(LATE)


@pytest.mark.parametrize(
    "called",
    ["ADA", "Lovelace, Ada", "ada@example.org", "al1", "alove", "101", "ada-l", "ada lovelace"],
)
def test_a_folder_may_be_called_by_all_that_the_roster_knows(tmp_path, collect, roster, called):
    place = write(tmp_path, "class", below(called, work("ada")) | below("zoe", work("zoe")))
    done = collect(place, "--roster", roster)
    assert (done.exit_code, [row.students for row in done.rows.values()]) == (0, ["ada", "zoe"])


@pytest.mark.parametrize("answered", [True, False])
def test_a_typed_text_is_to_look_at_only_without_answers(tmp_path, collect, roster, answered):
    files = {name: data for name, data in work("ada").items() if answered or name != "answers.txt"}
    other = {"02_serial/answers.txt": b"predict_gpu = yes"}  # of which the text says nothing
    archive = packed(below("01_learning", files) | other)
    typed = {"ada_101_text.html": b"<p>as attached", "ada_101_9_work.zip": archive}
    done = collect(write(tmp_path, "down", typed), "--roster", roster, platform="canvas")
    assert (done.rows["ada/01"].doubts == "") is answered
    assert done.exit_code == (not answered)


@pytest.mark.parametrize("called", ["x-ada", "07 Ada", "lovelace_ada", "AdaLovelace", "Adda"])
def test_any_other_name_waits_for_a_person(tmp_path, grade, roster, called):
    strangers = [called, *(f"stranger {number}" for number in range(9))]
    files = below("zoe", work("zoe"))
    for name in strangers:
        files |= below(name, work("ada"))
    place = write(tmp_path, "class", files)
    result = grade(place, "--roster", roster, "--profile", "smoke")
    row = result.collected.rows[f"{called}/01"]
    assert (row.students, row.doubts[:18]) == ("", "owner unknown: -: ")
    assert result.collected.exit_code == 1
    for name in strangers:  # each once, and none is left out
        assert result.collected.stdout.count(f"{name}/01") == 1
        assert result.stderr.count(f"{name}/01") == 1
    assert points(result)["ada"] == "–/10"


def test_the_instructors_tables_name_students_as_the_roster_knows_them(tmp_path, grade, roster):
    _, name, make = FORMS["Moodle's folders"]
    (tmp_path / "overrides.csv").write_text(
        'student,lesson,check,points,reason\n"Lovelace, Ada",01,,9,oral exam\n'
        "zoe@example.org,01,,3,oral exam\n"
    )
    words = (
        "--roster",
        roster,
        "--profile",
        "smoke",
        *setting("overrides", tmp_path / "overrides.csv"),
    )
    found = points(grade(write(tmp_path, name, make()), *words, platform="moodle"))
    assert (found["ada"], found["zoe"], found["ben"]) == ("9/10", "3/10", POINTS["ben"])
