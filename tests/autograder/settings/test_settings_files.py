"""A mistake in an instructor's file stops grading; the message has file, line and a remedy."""

import unicodedata
from textwrap import indent

import pytest

from autograder.errors import SettingsError
from autograder.settings.roster import Claim, read_roster, who_is
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in

DUE = "due: {'02': '2026-03-01T23:59Z'}\n"
CHANGES = "student,lesson,check,points,reason\n"
TOTALS = "student,lesson,points,reason\n"
LONGER = "student,lesson,days,reason\n"


@pytest.fixture
def refused(tmp_path, grade):
    """Return a function that gives the message about these files, written as text or bytes."""
    hand_in(tmp_path / "class" / "ada" / "02", answers={})

    def run(rules="", **files):
        """Grade with a class.yaml whose field `late` is `rules` (bytes: the whole file)."""
        words, path = [], tmp_path / "class.file"
        if rules:
            text = rules if isinstance(rules, bytes) else f"late:\n{indent(rules, '  ')}".encode()
            path.write_bytes(text)
            words = ["--class", path]
        for name, content in files.items():
            path = tmp_path / f"{name}.file"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            words += ["--roster", path] if name == "roster" else setting(name, path)
        result = grade(tmp_path / "class", *words)
        assert (result.exit_code, result.folder.exists()) == (2, False)
        assert "rror(" not in result.stderr
        return result.stderr

    return run


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (TOTALS + "ada,02,excusd,x\n", "file:2: points for lesson 02 are a number from 0 to 10"),
        (TOTALS + "ada,02,5\n", "`reason` is empty"),
        (TOTALS + "ada,99,5,x\n", "file:2: there is no rubric"),
        (TOTALS + "ada,02,10.5,x\n", "file:2: points for lesson 02 are a number from 0 to 10"),
        (TOTALS + "ada,02,excused,ill\n\nada,2,3,x\n", "file:4: lesson 02 of ada appears twice"),
        (CHANGES + "ada,02,Lines moved, or changed,seen\n", "a cell with a comma needs quotes"),
        ("student,lesson,points,points,reason\n", "file:1: the column `points` appears twice"),
        (CHANGES + "ada,02,nets,5,x\n", "no check 'nets'"),
        (CHANGES + 2 * "ada,02,answers,1,x\n", "file:3: check answers of lesson 02 of ada appears"),
        (CHANGES + "ada,02,answers,30,x\n", "check answers of lesson 02 are a number from 0 to 2"),
        (
            "student,lesson,chek,points,reason\n",
            "file:1: unknown column `chek`; known are ",
        ),
    ],
)
def test_overrides(refused, rows, words):
    assert words in refused(overrides=rows)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("ada,99,5,x\n", "file:2: there is no rubric"),
        ("ada,02,two,x\n", "file:2: days are a number from 0 to 366, like 2.5, not 'two'"),
        (
            "ada,02,20260308,x\n",
            "file:2: days are a number from 0 to 366, like 2.5, not '20260308'",
        ),
        ("ada,02,2,x\nada,2,3,x\n", "file:3: lesson 02 of ada appears twice"),
    ],
)
def test_extensions(refused, rows, words):
    assert words in refused(DUE, extensions=LONGER + rows)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("due: {'02': tomorrow}\n", "is not a time of this century with an offset"),
        ("due: {'02': '2026-03-01T23:59'}\n", "is not a time of this century with an offset"),
        ("due: {'02': '2206-03-01T23:59Z'}\n", "is not a time of this century with an offset"),
        ("due:\n  '99': 2026-03-01T23:59Z\n", "file:3: there is no rubric for lesson '99'"),
        (DUE.replace("}", ", 2: 2026-03-02T23:59Z}"), "file:2: lesson 02 is twice under due"),
        ("due: tomorrow\n", "due: should be `name: value` lines"),
        (DUE + "penalty_a_day: 0.1\n", ":3: late.penalty_a_day: write a percentage"),
        (DUE + "penalty_a_day: 110%\n", ":3: late.penalty_a_day: write a percentage"),
        ("slack: 3\n", ":2: late.slack: no such field; known are due,"),
        ("free_days: -1\n", "late.free_days: should be greater than or equal to 0; found -1"),
        ("due:\n\t'02': x\n", ":3: this is not valid YAML: "),
        ("due: \x07\n", "this is not valid YAML: "),
        (b"due: M\xe4rz\n", "file: is not UTF-8: save it as UTF-8"),
    ],
)
def test_policy(refused, policy, words):
    assert words in refused(policy)


LOSS = "'02':\n  values:\n    loss of net:\n      value: {}\n      low: 0\n      high: 2\n{}"


@pytest.mark.parametrize(
    ("text", "line", "place"),
    [
        ("'02':\n  values: 3\n", 2, "02.values"),
        ("[]\n", 1, "the file"),
        (LOSS.format("true", "      unit: ''\n"), 4, "02.values.loss of net.value"),
        (LOSS.format("1e999", "      unit: ''\n"), 4, "02.values.loss of net.value"),
        (LOSS.format("1", ""), 3, "02.values.loss of net.unit"),
    ],
)
def test_a_calibration_that_is_none(refused, text, line, place):
    assert f"file:{line}: {place}: " in refused(calibration=text)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffStudent;Lesson;Points;Reason;;\r\nada;2;7.5;oral, long;;\r\n;;;;;\r\n",
        "student\tlesson\treason\tpoints\nada\t02\toral, long\t7.5\n",
        'reason,points,lesson,student\n"oral,\nlong",7.5,02,ada\n',
    ],
)
def test_tables_as_spreadsheets_write_them(tmp_path, grade, text):
    hand_in(tmp_path / "class" / "ada" / "02", answers={})
    (tmp_path / "changes.csv").write_bytes(text.encode())
    line = grade(tmp_path / "class", *setting("overrides", tmp_path / "changes.csv")).table[0]
    assert line[2] == "7.5/10"
    assert line[-1] == "7.5 points by the instructor: oral, long"


# --- the roster ---------------------------------------------------------------------------------


def roster(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return read_roster(path)


@pytest.mark.parametrize("column", ["canvas_id", "sis_id", "sis_login", "moodle_id", "login"])
def test_two_students_with_one_id(tmp_path, column):
    assert len(roster(tmp_path, f"student,{column}\nada,7\nben,\ncyd,\n")) == 3
    with pytest.raises(SettingsError) as caught:
        roster(tmp_path, f"student,{column}\nada,7\nben,8\ncyd,7\n")
    path = tmp_path / "roster.csv"
    words = f"{path}:4: {column} '7' appears twice in the roster, first in {path}:2"
    assert caught.value.message == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student\nada\nben\nada\n", "csv:4: student 'ada' appears twice"),
        ("student,name\nada,Lovelace, Ada\n", "csv:2: 3 cells where the header has 2; a cell with"),
        ("name\nada\n", "csv:2: the cell of the column `student` is empty or missing"),
        ("student,name\n", "csv: there is no student below the header"),
    ],
)
def test_slips_in_the_roster(tmp_path, text, words):
    with pytest.raises(SettingsError) as caught:
        roster(tmp_path, text)
    assert words in caught.value.message


def test_columns_that_are_not_used_are_named(tmp_path, grade, collect):
    header = "Student,ID,logn,Group,Group,Total (Points),Section\n"
    assert set(roster(tmp_path, header + "ada,7,al1,1,2,10,B\n")) == {"ada"}
    hand_in(tmp_path / "class/ada/02", answers={})
    words, unused = (
        ("--roster", tmp_path / "roster.csv"),
        "not used: id, logn, group, total (points)",
    )
    assert unused in grade(tmp_path / "class", *words).stderr
    assert unused in collect(tmp_path / "class", *words).stdout


GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,02 Serial (5502),Login\n"
    ",,,,,Manual Posting,\n"
    "    Points Possible,,,,,10,(read only)\n"
    '"Ivanova, Olga",7001,s1,olga,HPC A,9.5,oi1\n'
    '"Berg, Anna",7002,,anna1@example.org,HPC A,,\n'
    '"Berg, Anna",7003,,,HPC B,,\n'
    '"Ng, Li",7004,,,HPC B,,\n'
    '", Ada",7005,,,HPC B,,\n'
    '"Student, Test",7099,,,HPC A,,\n'
)


def test_canvas_gradebook_is_a_roster(tmp_path):
    people = roster(tmp_path, GRADEBOOK)
    assert list(people) == ["olga", "anna1@example.org", "Anna Berg 7003", "Li Ng 7004", "Ada 7005"]
    olga = people["olga"]
    assert (olga.full_name, olga.canvas_id, olga.section) == ("Olga Ivanova", "7001", "HPC A")
    assert (olga.sis_id, olga.sis_login, olga.login) == ("s1", "olga", "oi1")
    assert people["anna1@example.org"].email == "anna1@example.org"


@pytest.mark.parametrize(
    ("claim", "students"),
    [
        (Claim("ivanovaolga", (("canvas_id", "7001"),)), ("olga",)),
        (Claim("x", (("canvas_id", "7003"),)), ("Anna Berg 7003",)),
        (Claim("Ivanova, Olga"), ("olga",)),
        (Claim("olga ivanova"), ("olga",)),
        (Claim("OLGA"), ("olga",)),
        (Claim("s1"), ("olga",)),
        (Claim("Berg, Anna"), ()),  # of two, nobody knows which one
        (Claim("ivanovaolga"), ()),
    ],
)
def test_students_of_a_gradebook_are_recognised(tmp_path, claim, students):
    assert who_is(roster(tmp_path, GRADEBOOK), {})(claim) == students


def test_a_name_with_an_invisible_character_is_recognised(tmp_path):
    who = who_is(roster(tmp_path, "student\né\u202e\n"), {})
    assert who(Claim("é\u202e")) == who(Claim("e\u0301\u202e")) == ("é\\u202e",)


def test_of_two_ids_that_differ_in_case_each_is_its_own(tmp_path):
    who = who_is(roster(tmp_path, "student\nada\nAda\n"), {})
    assert [who(Claim(name)) for name in ("ada", "Ada", "ADA")] == [("ada",), ("Ada",), ()]


def test_names_are_the_same_however_their_accents_are_typed(tmp_path):
    typed = unicodedata.normalize("NFD", "josé")
    [person] = roster(tmp_path, f"student,name\n{typed},{typed}\n").values()
    assert (person.student, person.name) == ("josé", "josé")
