"""Answers as students write them: read if unambiguous, otherwise shown, and never lost."""

import json

import pytest

from autograder.codes import FindingCode
from autograder.report.student.next_steps import AGAIN
from autograder.settings.rubric import FOLDER
from autograder.submissions.answer_values import as_word, readings
from autograder.submissions.answers import parse_answers
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record, write_lines
from tests.autograder.submissions.downloads import write

IDS = {"keras_epoch_s", "predict_accuracy", "a1"}
BOTH = {"keras_epoch_s": "0.91", "predict_accuracy": "no"}
ONE = {"keras_epoch_s": "0.91"}

NOTHING: dict[str, str] = {}
# The content of the file, what is read from it, and whether a line is a finding.
READ = {
    "keras_epoch_s=0.91": (ONE, False),
    "keras_epoch_s: 0.91": (ONE, False),
    "Keras_Epoch_s: 0.91": (ONE, False),
    "keras_epoch_s : '0.91'": (ONE, False),
    "- keras_epoch_s: 0.91": (ONE, False),
    "1. keras_epoch_s = 0.91": (ONE, False),
    "* **keras_epoch_s**: 0.91": (ONE, False),
    "**keras_epoch_s:** 0.91": (ONE, False),
    "`keras_epoch_s` = 0.91": (ONE, False),
    "keras_epoch_s := 0.91": (ONE, False),
    "keras_epoch_s == 0.91": (ONE, False),
    '{"keras_epoch_s": 0.91,\n "predict_accuracy": "no"}': (BOTH, False),
    "keras_epoch_s: 0.91   # of my second run\npredict_accuracy: no": (BOTH, False),
    "keras_epoch_s -> 0.91": (NOTHING, True),
    "keras_epoch_s is 0.91": (NOTHING, True),
    "answers.note(keras_epoch_s=0.91)": (NOTHING, True),
    "keras epoch s is 0.91": (NOTHING, True),
    "Note: I was ill\nkeras_epoch_s: 0.91": (ONE, False),
    # A file without any answer is a finding, unless it only lists the questions.
    "Note: I was ill": (NOTHING, True),
    "the epoch took 0.91 s": (NOTHING, True),
    "Aufgabe 1: 0.91": (NOTHING, True),
    "keras_epoch_s =\n0.91": ({"keras_epoch_s": ""}, True),
    "q7 = 0.91": ({"q7": "0.91"}, True),
    "a1 = [64, 10]": ({"a1": "[64, 10]"}, False),
    "keras_epoch_s =\na1 =": ({"keras_epoch_s": "", "a1": ""}, False),
}


@pytest.mark.parametrize(("text", "read", "is_finding"), [(k, *v) for k, v in READ.items()])
def test_what_is_read(text, read, is_finding):
    answers, findings = parse_answers(text.encode(), "answers.txt", IDS)
    assert {key: answer.text for key, answer in answers.items()} == read
    assert bool(findings) == is_finding


def test_without_questions_no_line_is_a_finding():
    assert parse_answers(b"a1 = 3\nI was ill\n", "answers.txt", ())[1] == []


def test_two_values_of_one_question_do_not_count():
    answers, [finding] = parse_answers(b"a1: 3\n- a1 = 4\n", "answers.txt", IDS)
    assert (answers["a1"].text, finding.code) == ("", FindingCode.ANSWERED_TWICE)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.91s", "s", 0.91), ("0.91 sec", "s", 0.91), ("0.91 seconds.", "s", 0.91),
        ("910 ms", "s", 0.91), ("1.5 min", "s", 90), ('"0.91"', "s", 0.91), ("“0,91”", "s", 0.91),
        ("0.91,", "s", 0.91),
        ("43,902 images/s", "samples/s", 43902), ("43 902 img/sec", "samples/s", 43902),
        ("12 GB per second", "GB/s", 12), ("12 TFLOP/s", "GFLOP/s", 12000), ("2 GB", "MB", 2000),
        ("rank 2", "", 2), ("Line 40", "", 40), ("rank 2", "ms", None),
        ("1.9x", "", 1.9), ("1.9 times", "", 1.9), ("1,9-fach", "", 1.9),
        ("60 000", "", 60000), ("60’000", "", 60000),
        ("5 %", "", 0.05), ("−3", "", -3),
        ("0.9-1.0", "s", None), ("0.9 or 1.0", "s", None), ("nan", "s", None), ("1/3", "", None),
        ("3 apples", "s", None), ("5 GB", "s", None), ("1.2.3", "s", None),
        ("0.9 s/epoch", "", None), ("", "s", None), ("seconds[2]", "s", None),
    ],
)  # fmt: skip
def test_numbers_with_quotes_and_units(text, unit, value):
    assert readings(text, unit)[:1] == (() if value is None else (pytest.approx(value),))


@pytest.mark.parametrize(
    ("text", "unit", "values"),
    [
        ("150.528", "", (150.528, 150528)), ("150,528", "", (150528, 150.528)),
        ("9,546 %", "", (95.46, 0.09546)), ("150.528 samples/s", "samples/s", (150.528, 150528)),
        ("0.528", "", (0.528,)), ("1.190,48", "", (1190.48,)), ("1.325.568", "", (1325568,)),
        ("9.546 percent", "", (0.09546, 95.46)), ("12 Prozent", "", (0.12,)),
        ("150528 numbers", "", (150528,)), ("4 GPUs", "", (4,)), ("150528 numbers", "s", ()),

        ("2**9", "", ()), ("7-8", "", ()),
    ],
)  # fmt: skip
def test_numbers_in_more_forms(text, unit, values):
    """A number that has two readings is right if one of them is."""
    assert readings(text, unit) == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "word"),
    [("(D)", "d"), ("D)", "d"), ("D.", "d"), ("[d]", "d"), ("nein", "no"), ("False", "no"),
     ("D, A, B", "dab"), ("D A B", "dab"), ("ja.", "yes"), ("TRUE", "yes"),
      ("none", "none"), ("tf.distribute", "tf.distribute")],
)  # fmt: skip
def test_words_in_more_forms(text, word):
    assert as_word(text) == word


@pytest.fixture
def ada(tmp_path, grade):
    """Return a function that grades ada's answers to lesson 02 and gives her points and page."""

    def command(name: str, data: bytes, **more: bytes):
        folder = hand_in(tmp_path / "class" / "ada" / "02")
        (folder / "answers.txt").unlink()
        write(tmp_path / "class/ada", "02", {name: data, **more})
        result = grade(tmp_path / "class")
        (line,) = result.table
        return line[2], (result.folder / "students" / "ada.html").read_text(), line[-1]

    return command


LINES = "\n".join(f"{key} = {value}" for key, value in RIGHT_ANSWERS.items()).encode()


@pytest.mark.parametrize(
    "name",
    ["answers.txt.txt", "Answers.TXT", "answers (1).txt", "answers-2.txt", "answers", "answer.txt",
     "answers.md", "answers_ada.txt", "my_answers.txt", "answers.text"],
)  # fmt: skip
def test_a_file_that_is_nearly_called_so(ada, name):
    assert ada(name, LINES)[0] == "10/10"


def test_answers_in_other_words_count_as_those_of_the_notebook(ada):
    lines = [f'- {key}: "{value}"' for key, value in RIGHT_ANSWERS.items()]
    text = "\n".join(lines).replace('"1.05"', "1.05 seconds").replace('"57142.9"', "57142.9 img/s")
    assert ada("answers.txt", text.encode())[0] == "10/10"


def test_a_draft_that_differs_is_looked_at(ada):
    points, _, look = ada("answers.txt", LINES, **{"answers_old.txt": b"keras_epoch_s = 7\n"})
    assert points != "10/10"
    assert look == "`keras_epoch_s` has different answers, so none counts"


@pytest.mark.parametrize("name", ["answers.docx", "Answers Ada.pdf", "answers.rtf"])
def test_a_file_that_cannot_be_read_is_named(ada, name):
    _, page, look = ada(name, b"PK")
    assert look.startswith(FindingCode.ANSWERS_NOT_TEXT.heading)
    assert name in page


def test_answers_in_utf_16_are_looked_at(ada):
    _, page, look = ada("answers.txt", LINES.decode().encode("utf-16"))
    assert look.startswith(FindingCode.ANSWERS_NOT_TEXT.heading)
    assert "UTF-8" in page
    assert "one line `id = value`" not in page


def test_empty_files_were_submitted_and_are_looked_at(tmp_path, grade):
    for name in ("02_keras_7.out", "answers.txt", "job_8.e8", "job_9.er"):  # errors may be
        write_lines(tmp_path / "class/ada/02" / name, []).write_bytes(b"")
    result = grade(tmp_path / "class")
    record = json.loads((result.folder / "records/ada.json").read_text())["grades"][0]
    assert [note["code"] for note in record["findings"]].count("file empty") == 2
    advice = " ".join(check["advice"] for check in record["checks"])
    assert "`02_keras_7.out` is empty" in advice
    assert "`answers.txt` is empty" in advice
    assert "scheduler" not in advice
    parts = [part for check in record["checks"] for part in check["parts"]]
    assert {part["status"] for part in parts} == {"not measured"}
    assert {part["code"] for part in parts} == {"run unclear", "no answer"}


def test_a_line_that_is_not_understood_is_reported(ada):
    text = LINES.replace(b"keras_epoch_s = 1.05", b"keras epoch s was 1.05 in my run")
    points, page, _ = ada("answers.txt", text)
    assert points != "10/10"
    assert "keras epoch s was 1.05 in my run" in page
    assert "A line of the answers could not be read" in page


def test_other_lessons_answers_in_one_file_are_no_misreading(tmp_path, grade):
    write_lines(tmp_path / "class/ada/02/job_1.out", make_record())
    write_lines(tmp_path / "class/ada/02/answers.txt", ["predict_shuffled: yes"])
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert "could not be read" not in page


def test_a_rubric_without_expected_answers_is_named_and_asks_nothing_of_students(tmp_path, grade):
    hand_in(tmp_path / "class/ada/02")
    write(tmp_path, "rubrics", {"02.yaml": (FOLDER / "02.yaml").read_bytes()})
    result = grade(tmp_path / "class", "--rubrics", tmp_path / "rubrics")
    assert "expected/02.yaml" in result.stderr
    assert AGAIN not in (result.folder / "students/ada.html").read_text().casefold()
