"""Submissions made to break the grader: each is a finding of that student; the rest is graded."""

import csv
import os
import re
import subprocess

import pytest
from hypothesis import given, strategies as st

from autograder.codes import FindingCode
from autograder.safe_text import csv_cell, file_name
from autograder.submissions.answer_values import readings
from autograder.submissions.answers import parse_answers
from autograder.submissions.kinds import WORK
from autograder.submissions.walk import holds
from tests.autograder.make_record import hand_in, make_record, write_lines
from tests.autograder.submissions.packages import files_of_a_lesson, line_of


@pytest.mark.slow
def test_more_files_than_anybody_hands_in(tmp_path, grade):
    """There is no timeout: work quadratic in the number of files would never end."""
    folder = tmp_path / "class" / "eve" / "02"
    folder.mkdir(parents=True)
    for number in range(10_500):
        os.close(os.open(folder / f"f{number}.out", os.O_CREAT | os.O_WRONLY))
    (folder / "g").mkdir()  # is looked at after the limit
    hand_in(tmp_path / "class" / "joe" / "02")
    result = grade(tmp_path / "class")
    assert "left out" in line_of(result, "eve")[5]
    assert line_of(result, "joe")[2] == "10/10"
    assert "more than 10,000 files" in (result.folder / "students" / "eve.html").read_text()


def test_one_row_for_each_lesson_of_a_student(tmp_path, collect_and_grade):
    """Loose files and an archive that does not open have no lesson in their names."""
    eve, joe = tmp_path / "class" / "eve", tmp_path / "class" / "joe"
    for place, content in files_of_a_lesson().items():
        write_lines(eve / place, [content.decode()])
    (eve / "work.zip").write_bytes(b"PK\x03\x04 and then nothing")
    write_lines(eve / "again_9.out", make_record(job_id="9"))
    joe.mkdir()
    (joe / "work.zip").write_bytes(b"no archive at all")
    (tmp_path / "roster.csv").write_text("student\neve\njoe\n")
    result = collect_and_grade(tmp_path / "class", "--roster", tmp_path / "roster.csv")
    assert [row[:2] for row in result.table] == [["eve", "02"], ["joe", "02"]]
    looks = list(csv.DictReader((result.folder / "grades.csv").open()))
    assert all(FindingCode.ARCHIVE_UNOPENED.heading in row["look"] for row in looks)
    assert "again_9.out" in (tmp_path / "grades" / "students" / "eve.html").read_text()
    assert result.table[1][3] == "missing"


def test_links_pipes_and_folders_without_end(tmp_path, grade):
    folder = hand_in(tmp_path / "class" / "eve" / "02")
    secret = write_lines(tmp_path / "secret.out", make_record(source="keras-horovod", size=2))
    (folder / "stolen.out").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.out")
    deep = folder
    for _ in range(30):
        deep = deep / "d"
        deep.mkdir()
    write_lines(deep / "x.out", ["x"])
    result = grade(tmp_path / "class")
    page = (result.folder / "students" / "eve.html").read_text()
    assert line_of(result, "eve")[2] == "10/10"
    for words in ("a link, which is not followed", "a pipe, socket or device", "too deep"):
        assert words in page
    assert "keras-horovod" not in page


NAMES = [
    "<script>alert(1)<",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(0)",
    "new\nline",
    "red\x1b[31mtext",
    "turn\u202eround",
    "quo'te\"d",
    "+1-555",
    "@cmd",
    "tab\tbed",
    "{{ 7 * 7 }}",
    "a;b,c",
    "dot. .",
    os.fsdecode(b"bytes \xff\xfe"),
]


# Styles, pictures and lines of programs have numbers of their own.
NUMBERS = r"<style>.*?</style>|<svg.*?</svg>|<pre.*?</pre>"


def test_names_are_only_text(tmp_path, grade):
    for number, name in enumerate(NAMES):
        answers = {
            "predict_accuracy": name.replace("\n", " "),
            "s4_epoch_s": name.replace("\n", " "),
        }
        keras = make_record(job_id=str(number), device=name, model=name)
        hand_in(tmp_path / "class" / name / "02", keras=keras, answers=answers)
    result = grade(tmp_path / "class")
    assert result.exit_code in (0, 1)
    assert len(result.stdout.splitlines()) == len(NAMES) + 1
    pages = list(result.folder.rglob("*.html"))
    assert len(pages) == len(NAMES) + len(("index", "lessons/02"))
    for path in pages:
        text = path.read_text()
        # Text that students control may appear only between tags, never as a tag.
        assert "<script>alert" not in text
        assert "<img" not in text
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", text)
        assert "49" not in re.sub(NUMBERS, "", text, flags=re.S)
    for path in (*result.folder.glob("*.csv"), *result.folder.glob("*.json")):
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202e]", path.read_text())
    for path in result.folder.glob("*.csv"):
        for line in path.read_text().splitlines()[1:]:
            assert not line.lstrip('"').startswith(("=", "+", "@"))
    assert not re.search(r"[\x1b\u202e]", result.stdout)


@given(st.text(max_size=60))
def test_no_cell_is_a_formula(text):
    assert not csv_cell(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120))
def test_file_names_are_safe_and_tell_students_apart(one, other):
    for name in (one, other):
        made = file_name(name)
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,90}", made)
        assert made not in (".", "..")
    if one != other:
        assert file_name(one).casefold() != file_name(other).casefold() or (
            file_name(one) == one and file_name(other) == other
        )


@given(st.binary(max_size=400))
def test_answers_are_read_whatever_they_are(data):
    answers, findings = parse_answers(data, "answers.txt", {"a1"})
    for answer in answers.values():
        assert all(abs(number) < 1e301 for number in readings(answer.text))
    for finding in findings:
        assert finding.where[0].line >= 1


def test_deeply_nested_folders_stop_nobodys_grade(tmp_path, grade):
    for student in ("ada", "eve", "joe"):
        hand_in(tmp_path / "class" / student / "02")
    for place in ("ada/02", "eve/more"):  # the second holds no work
        for depth in range(100, 1501, 100):  # because makedirs is recursive
            os.makedirs(tmp_path / "class" / place / "/".join("d" * depth), exist_ok=True)
    try:
        result = grade(tmp_path / "class")
    finally:  # pytest's own removal is recursive
        subprocess.run(["rm", "-r", tmp_path / "class"], check=True)
    assert [line[2:4] for line in result.table] == [["10/10", "graded"]] * 3


def test_a_link_in_the_place_of_a_lesson_is_not_followed(tmp_path, grade):
    hand_in(tmp_path / "elsewhere")
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "02").symlink_to(tmp_path / "elsewhere")
    hand_in(tmp_path / "class" / "eve" / "02")
    assert not holds(tmp_path / "class" / "ada" / "02", WORK)
    result = grade(tmp_path / "class")
    assert {line[0]: line[3] for line in result.table if line[1] == "02"}["eve"] == "graded"
    assert "10/10" not in [line[2] for line in result.table if line[0] == "ada"]
