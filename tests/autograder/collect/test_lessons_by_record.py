"""The record says which lesson an output belongs to, so folder names need not."""

import pytest

from autograder.codes import FindingCode
from tests.autograder.submissions.downloads import KEPT, packed, write

OUTPUT = {
    number: (KEPT / number / f"{name}.out.txt").read_bytes()
    for number, name in {"01": "right", "02": "keras", "07": "right", "06": "right"}.items()
}
MINE = {"01": b"predict_shuffled = yes\n", "02": b"predict_accuracy = 0.9\n"}
POINTS = {"01": "8.25/10", "02": "1.33/10"}  # for one output and one answer
MANY = {f"{one}_1234.out": OUTPUT[one] for one in ("01", "02")}


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


def rows(result) -> dict[str, list[str]]:
    (student,) = {line[0] for line in result.table}
    assert student == "ada"
    found = {line[1]: line[2:] for line in result.table}
    assert len(found) == len(result.table)
    return found


def files_of(*folders: tuple[str, str]) -> dict[str, bytes]:
    found = {}
    for folder, lesson in folders:
        found |= {f"{folder}job_1234.out": OUTPUT[lesson], f"{folder}job_1234.err": b"a warning\n"}
        if lesson in MINE:
            found[f"{folder}answers.txt"] = MINE[lesson]
    return found


# The content of a student's folder, and the points of the lessons in it.
PLACES = {
    "as released": (files_of(("01_learning/", "01"), ("02_serial/", "02")), POINTS),
    "Lesson 1 and hw02": (files_of(("Lesson 1/", "01"), ("hw02/", "02")), POINTS),
    "Lektion 1 and a bare number": (files_of(("Lektion 1/", "01"), ("2/", "02")), POINTS),
    "names that say nothing": (files_of(("first/", "01"), ("second/a/", "02")), POINTS),
    "everything in one folder": (
        MANY | {"answers.txt": b"".join(MINE.values())}, POINTS),
    "everything in one zip": (
        {"all.zip": packed(MANY | {"answers.txt": b"".join(MINE.values())})}, POINTS),
    "a zip each": (
        {"a.zip": packed(files_of(("", "01"))), "b.zip": packed(files_of(("x/", "02")))}, POINTS),
    "one lesson called, one loose": (files_of(("01_learning/", "01"), ("", "02")), POINTS),
    "answers in a folder of their own": (
        MANY | {"answers/answers.txt": b"".join(MINE.values())}, POINTS),
    "numbers of the course's own": (files_of(("hw05/", "01"), ("hw06/", "02")), POINTS),
}  # fmt: skip


@pytest.mark.parametrize(("files", "points"), PLACES.values(), ids=list(PLACES))
def test_lessons_are_found(tmp_path, grade, files, points):
    write(tmp_path / "class", "ada", files)
    found = rows(grade(tmp_path / "class", "--profile", "smoke"))
    assert {lesson: line[0] for lesson, line in found.items()} == points
    assert not any("lesson" in line[-1] for line in found.values())


def test_answers_alone_name_no_lesson(tmp_path, collect):
    place = write(tmp_path / "class", "ada", {"homework/answers.txt": MINE["01"]})
    rows = collect(place.parent).rows.values()
    assert [(row.folder, row.lesson) for row in rows] == [("ada/unknown", "")]


def test_the_record_counts_before_a_number(tmp_path, grade):
    write(tmp_path / "class", "ada", files_of(("Lesson 2/", "01"), ("hw07/", "06")))
    found = rows(grade(tmp_path / "class", "--profile", "smoke"))
    assert (sorted(found), found["01"][0]) == (["01", "06"], POINTS["01"])


def test_programs_go_with_the_outputs_that_ran_them(tmp_path, grade):
    files = {"a/x_1.out": OUTPUT["01"], "a/train.py": b"pass\n", "b/y_2.out": OUTPUT["02"]}
    write(tmp_path / "class", "ada", files)
    found = rows(grade(tmp_path / "class", "--profile", "smoke"))
    assert found["01"][-1].startswith(FindingCode.OTHER_PROGRAM.heading)
    assert not found["02"][-1].startswith(FindingCode.OTHER_PROGRAM.heading)


@pytest.mark.parametrize(
    "files",
    [
        files_of(("01 Ada/", "06"), ("02 Ben/", "06")),
        files_of(("01 Ada/02_serial/", "02"), ("02 Ben/02_serial/", "02")),
        {"01_Ada/work.zip": packed(files_of(("", "01"))), "02_Ben/work.zip": b"PK"},
    ],
)
def test_students_in_a_list_are_no_lessons(tmp_path, grade, files):
    result = grade(write(tmp_path, "class", files), "--profile", "smoke")
    assert {line[0].replace("_", " ") for line in result.table} == {"01 Ada", "02 Ben"}


@pytest.mark.parametrize("width", [80, 132])
def test_a_copy_from_a_terminal_is_named_for_what_it_is(tmp_path, grade, width):
    lines = OUTPUT["01"].decode().splitlines()
    broken = [line[at : at + width] for line in lines for at in range(0, len(line) or 1, width)]
    write(tmp_path / "class", "ada", {"01_learning/terminal.txt": "\n".join(broken).encode()})
    result = grade(tmp_path / "class", "--profile", "smoke")
    assert rows(result)["01"][-1].startswith(FindingCode.TERMINAL_COPY.heading)
    page = (result.folder / "students" / "ada.html").read_text()
    assert f"its long lines were broken after {width} characters" in page
    assert "the record line is damaged" not in page


@pytest.mark.parametrize("lesson", ["", "77"])
def test_a_lesson_without_a_rubric_is_refused(tmp_path, collect, lesson):
    place = write(tmp_path, "class", {"ada/a_1.out": OUTPUT["02"]})
    done = collect(place, "--lesson", lesson)
    assert (done.exit_code, done.rows) == (2, {})
