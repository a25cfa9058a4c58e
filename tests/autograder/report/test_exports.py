"""Filling in other systems' files, the messages about it, and places that cannot be written."""

import csv
import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record, write_lines

ROSTER = (
    "student,name,email,canvas_id,moodle_id\n"
    "ada,Ada L.,ada@example.org,101,Participant 7\n"
    "ben,Ben M.,ben@example.org,102,Participant 8\n"
)


def run(*words):
    full = ["--profile", "full"] if words[0] == "grade" else []
    result = CliRunner().invoke(main, [*map(str, words), *full])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def cells(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write a class: ada has 10 of 10, tom an unknown output, and zoe only an override."""
    home = tmp_path_factory.mktemp("course")
    hand_in(home / "class" / "ada" / "02")
    hand_in(home / "one" / "ada" / "02")
    write_lines(home / "class" / "tom" / "who_knows.out", ["hello"])
    (home / "roster.csv").write_text(ROSTER + "zoe,Zoe Z.,zoe@example.org,,\n")
    (home / "overrides.csv").write_text("student,lesson,check,points,reason\nzoe,02,,8,oral exam\n")
    return home


@pytest.fixture
def fill(home, tmp_path):
    """Return a function that fills in a file while grading and gives its cells and the messages."""

    def command(option, text, name="02-sheet.csv"):
        given = tmp_path / name
        given.write_bytes(text.encode())
        options = ("--roster", home / "roster.csv", *setting("overrides", home / "overrides.csv"))
        out = tmp_path / "grades"
        result = run("grade", home / "class", "--out", out, *options, option, given)
        filled = "canvas.csv" if option == "--canvas" else f"moodle-{name}"
        sentence = [line for line in result.stderr.splitlines() if line.startswith(filled)]
        return cells(out / filled), sentence[0].removeprefix(f"{filled}: ")

    return command


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,{title} (5501),Lab 2 (5502)\n"
    ",,,,,Manual Posting,\n"
    "    Points Possible,,,,,{most},5\n"
    '"L., Ada",101,,al1,A,,4\n"M., Ben",102,,bm2,A,1,\n=cmd,,,zoe,-,,\n"Student, Test",9,,,A,,\n'
)
# Title, Canvas's maximum; ada's and zoe's points there, and the message.
ASSIGNMENTS = [
    ("02 Serial", "10", ["10.0", "8.0"], ""),
    ("02 Serial", "100.0", ["100.0", "80.0"], "02: points of 10 written as points of 100"),
    ("02 Serial", '"12,5"', ["12.5", "10.0"], "02: points of 10 written as points of 12.5"),
    ("02 Serial", "0", ["10.0", "8.0"], "02: points of 10, because"),
    ("02 Serial", '"1,000"', ["10.0", "8.0"], "02: points of 10, because"),
    ("Lab 02", "100", ["10.0", "8.0"], "column added"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "most", "points", "said"), ASSIGNMENTS)
def test_canvas_gets_the_points_of_its_assignment(fill, title, most, points, said):
    lines, sentence = fill("--canvas", CANVAS.format(title=title, most=most))
    assert [lines[3][5], lines[5][5]] == points
    assert lines[5][0] == "=cmd"  # Canvas finds the student by it
    assert lines[4][5] == ("1" if title == "02 Serial" else "")  # not ours
    more = sentence.removeprefix(
        "2 of 4 students filled in; without points here: Ben M., Test Student"
    )
    assert more.startswith(f"; {said}") if said else not more


REFUSED = [
    ("Student,ID,Section,02 Serial (1),02 Quiz (2)\nEve,1,A,,\n", "two columns begin with"),
    ("a,b\n1,2\n", "not a Canvas gradebook export"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_an_export_that_cannot_be_filled_in_is_refused(home, tmp_path, text, words):
    export = tmp_path / "export.csv"
    export.write_text(text)
    results = tmp_path / "results.json"
    words_ = ("--out", tmp_path / "out", "--canvas", export, "--gradescope", results)
    result = run("grade", home / "one", *words_)
    assert result.exit_code == 2
    assert f"export.csv:1: {words}" in result.stderr
    assert not results.exists()


MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,{most},Last modified (grade),Feedback\n"
    "Participant 7,Ada L.,ada@example.org,Submitted,-,{value},-,\n"
    'Participant 8,Ben M.,ben@example.org,No submission,-,{value},-,"=two\r\nlines"\n'
    "Participant 9,Zoe Z.,zoe@example.org,-,,{value},-,\n"
)
# Heading and cells of the maximum; ada's and zoe's grade, and the message.
WORKSHEETS = [
    ("Maximum Grade", "10.00", ["10.00", "8.00"], ""),
    ("Bestwertung", '"100,00"', ["100.00", "80.00"], "; points of 10 written as points of 100"),
    ("Maximum Grade", "-", ["10.00", "8.00"], "; points of 10, because the maximum there cannot"),
    ("Allowed", "5", ["10.00", "8.00"], "; points of 10, because the maximum there cannot"),
]  # fmt: skip


@pytest.mark.parametrize(("most", "value", "points", "said"), WORKSHEETS)
def test_moodle_gets_the_points_of_its_assignment(fill, most, value, points, said):
    text = MOODLE.format(most=most, value=value)
    if most == "Bestwertung":
        text = text.replace("Status,Grade", "Status,Bewertung")
    text = text.replace("Participant 8,Ben M.,ben@", "Participant 10,Max,max@")  # not in the class
    lines, sentence = fill("--moodle", text)
    assert [lines[1][4], lines[3][4]] == points
    assert lines[2] == list(csv.reader(io.StringIO(text, newline="")))[2]
    assert [line[6] for line in lines[1:]] == ["-", "-", "-"]
    assert sentence.removesuffix(" be read") == (
        f"2 of 3 students filled in; without points here: Max{said}"
    )


def test_whom_two_have_in_common_nobody_is_filled_in(tmp_path):
    for number, name in enumerate(("ada", "eve")):
        keras = make_record(job_id=str(number))
        hand_in(tmp_path / "class" / name / "02", keras=keras)
    (tmp_path / "roster.csv").write_text("student,name\nada,A. Lee\neve,A. Lee\n")
    (tmp_path / "sheet.csv").write_text("Student,ID,Section,02 (1)\nA. Lee,1,A,\nA. Lee,2,B,\n")
    options = ("--roster", tmp_path / "roster.csv", "--canvas", tmp_path / "sheet.csv")
    result = run("grade", tmp_path / "class", "--out", tmp_path / "out", *options)
    assert "0 of 2 students filled in; no line there for ada, eve" in result.stderr


def test_to_fill_in_a_file_a_folder_is_needed(home, tmp_path):
    (tmp_path / "sheet.csv").touch()
    result = run("grade", home / "class", "--canvas", tmp_path / "sheet.csv")
    assert result.exit_code == 2
    assert "folder of --out" in result.stderr


UNWRITABLE = [
    ("calibrate", "class/ada", "--out", "file/site.yaml"),
    ("grade", "class", "--out", "file/grades"),
    ("grade", "one", "--gradescope", "/proc/results.json"),
]


@pytest.mark.parametrize("words", UNWRITABLE, ids=" ".join)
def test_a_place_that_cannot_be_written_is_said(home, monkeypatch, words):
    monkeypatch.chdir(home)
    Path("file").touch()
    result = run(*words)
    assert result.exit_code == 2
    assert re.fullmatch(r"Error: \S+ cannot be written: .+\n", result.stderr)


@pytest.mark.parametrize(("given", "out"), [("all", "all/grades"), (".", "grades")])
def test_what_is_written_is_never_what_is_read(tmp_path, monkeypatch, given, out):
    monkeypatch.chdir(tmp_path)
    hand_in(Path(given) / "ada" / "02")
    result = run("grade", given, "--out", out)
    assert result.exit_code == 2
    assert f"--out {out} is among the submissions of {given}" in " ".join(result.stderr.split())
    assert not list(Path(out).glob("grades*"))


@pytest.mark.parametrize("ben", ["Ben Cook_1234568_assignsubmission_file_", "ben"])
def test_a_class_is_no_reference(tmp_path, ben):
    for name in ("ada", ben):
        hand_in(tmp_path / "class" / name / "02")
    result = run("calibrate", tmp_path / "class", "--out", tmp_path / "site.yaml")
    assert result.exit_code == 2
    assert all(result.stderr.count(name) == 1 for name in ("ada", ben))
    assert "Expected: one folder" in result.stderr
    assert not (tmp_path / "site.yaml").exists()
