"""Feedback to students: the next steps, repetitions grouped, and the formats of platforms."""

import io
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record
from tests.autograder.report.test_student_page import text_of

ROSTER = (
    "student,name,email,canvas_id,moodle_id\n"
    "ada,Ada Lovelace,ada@example.org,101,Participant 7\n"
    "ben,Ben M.,ben@example.org,102,\n"
    "dan,Dan O.,dan@example.org,104,\n"
)
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback\n"
    "Participant 7,Ada Lovelace,ada@example.org,Submitted,-,10.00,-,\n"
    "Participant 4701,Ben_M. / Bo,ben@example.org,Submitted,-,10.00,-,\n"
    "Participant 9,Dan O.,dan@example.org,No submission,-,10.00,-,\n"
)
WRONG = RIGHT_ANSWERS | {"s4_epoch_s": "9", "faults_serial": "ABCD"}


@pytest.fixture
def graded(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02")
    hand_in(tmp_path / "class" / "ben" / "02", keras=make_record(job_id="5"), answers=WRONG)
    (tmp_path / "class" / "dan").mkdir()
    (tmp_path / "roster.csv").write_text(ROSTER)
    return grade(tmp_path / "class", "--roster", tmp_path / "roster.csv").folder


def feedback(graded, *words):
    roster = graded.parent / "roster.csv"
    command = ["feedback", str(graded), "--roster", str(roster), *map(str, words)]
    result = CliRunner().invoke(main, command)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def moodle_reads(name: str) -> tuple[str, str, str]:
    """Split a path into participant, plugin and file, as Moodle's own importer does."""
    parts = name.split("/")
    _, participant, kind, plugin, rest = parts[0].split("_", 4)
    assert participant.isdigit()
    assert rest == ""
    return participant, f"{kind}_{plugin}", "/".join(parts[1:])


def test_moodle_finds_each_participant(graded):
    sheet = graded.parent / "02-grades.csv"
    sheet.write_text(WORKSHEET)
    result = feedback(graded, "--moodle", sheet)
    assert result.exit_code == 0, result.output
    told = "moodle-02-grades.zip: for 2 of 2 students\n"
    assert result.output.startswith(told)
    packed = (graded / "feedback" / "moodle-02-grades.zip").read_bytes()
    files = {moodle_reads(name): data for name, data in unpacked(packed).items()}
    assert {key[:2] for key in files} == {(n, "assignfeedback_file") for n in ("7", "4701")}
    page = files["4701", "assignfeedback_file", "feedback-02.html"].decode()
    assert "Ben M." in page
    assert "What to do next" in page
    assert "Ada" not in page
    feedback(graded, "--moodle", sheet)
    assert (graded / "feedback" / "moodle-02-grades.zip").read_bytes() == packed


# Names in Canvas's download, and the one under which ben's feedback is returned.
CANVAS = [
    (["mben_102_2002_02_serial.zip"], "mben_102_2002_02_serial.zip"),
    (["mben_LATE_102_2002_train.py", "mben_LATE_102_2003_02.zip"], "mben_LATE_102_2003_02.zip"),
    (["mben_102_2002_job_12.out", "mben_102_2003_lesson.ipynb"], "mben_102_2002_job_12.out"),
    (["mben_102_2003_lesson.ipynb"], None),
    (["eveeve_109_2003_02.zip", "mben_102_link.html"], None),
]


@pytest.mark.parametrize(("names", "expected"), CANVAS)
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
def test_canvas_gets_the_names_that_it_gave(graded, names, expected, packed):
    given = graded.parent / "02-submissions"
    given.mkdir()
    for name in names:
        (given / name).write_text("x")
    if packed:
        given = Path(shutil.make_archive(str(given), "zip", given))
    result = feedback(graded, "--canvas", given)
    path = graded / "feedback" / "canvas-02.zip"
    if expected is None:
        assert (result.exit_code, path.exists()) == (2, False)
        assert "canvas_id" in result.stderr
        return
    assert result.exit_code == 0, result.output
    files = unpacked(path.read_bytes())
    assert list(files) == [expected]
    assert "for 1 of 2 students; none for ada" in result.output
    if expected.endswith(".zip"):
        assert set(unpacked(files[expected])) == {"feedback-02.html", "feedback-02.txt"}
    else:
        assert "What to do next:\n1. " in files[expected].decode()


MISTAKES = [
    ([], "give --moodle or --canvas"),
    (["--canvas", "roster.csv"], "cannot be read as Canvas's zip"),
    (["--moodle", "02-roster.csv"], "02-roster.csv:1: which column is the grade"),
    (["--moodle", "02-others.csv"], "would contain none of 2 students"),
    (["--moodle", "02-roster.csv", "while it is written"], "grade again"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_what_cannot_be_given_back_is_said(graded, monkeypatch, words, said):
    monkeypatch.chdir(graded.parent)
    shutil.copy("roster.csv", "02-roster.csv")
    Path("02-others.csv").write_text(WORKSHEET.splitlines()[0] + "\n")
    if words[2:]:
        (graded / ".new").mkdir()
    result = feedback(graded, *words[:2])
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (graded / "feedback").exists()


# --- the page ---------------------------------------------------------------------------------


def test_a_page_begins_with_what_to_do(graded):
    page = text_of((graded / "students" / "ben.html").read_text())
    head, _, rest = page.partition("What to do next")
    assert "points in 1 lesson" in head
    first, _, second = rest.partition(")")
    assert first.endswith("(0.33 points: 02, s4_epoch_s")
    assert second.split(")")[0].endswith("(0.33 points: 02, faults_serial")
    assert "nothing left to do" in text_of((graded / "students" / "ada.html").read_text())
    assert "What to do next" not in text_of((graded / "students" / "ada.html").read_text())


def test_what_is_typed_stands_as_code_and_never_as_backticks(tmp_path, grade):
    answers = {"predict_accuracy": "0.97", "extra": "`</code><b onclick=x>`"}
    hand_in(tmp_path / "class" / "ada" / "02", torch=[], answers=answers)
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    body = page.partition("<body>")[2]
    assert "<code>id = value</code>" in body.partition("What to do next")[2].partition("</ol>")[0]
    assert "no run of <code>torch</code>" in body
    assert "`" not in body
    assert "<b onclick" not in body
