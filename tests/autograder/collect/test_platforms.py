"""The naming scheme of each platform as a table, files beside it, and downloads without --from."""

import re
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.collect.download import listed
from autograder.collect.platforms import PLATFORMS, below_wrapper, looks_like
from autograder.collect.worksheet import time_of
from autograder.settings.claims import nobody
from tests.autograder.submissions.downloads import (
    FORMS,
    ROSTER,
    Files,
    below,
    canvas,
    moodle,
    repositories,
    work,
    write,
    zipped,
)
from tests.autograder.submissions.downloads import (
    gradescope as export,
)

TIME = "2026-03-01 20:00:00.123456 UTC"

# Platform, name of an entry; its owner, its id, and what else the name says.
NAMES = [
    ("moodle", "Ada Lovelace_4701_assignsubmission_file_", "Ada Lovelace", "4701", {}),
    ("moodle", "Ada_4701_assignsubmission_file_a.zip", "Ada", "4701", {"called": "a.zip"}),
    ("moodle", "T 1-Ada_4701_assignsubmission_file_", "T 1-Ada", "4701", {}),
    ("canvas", "lovelaceada_101_2002_w.zip", "lovelaceada", "101", {"called": "w.zip"}),
    ("canvas", "lovelaceada_LATE_101_2002_w.zip", "lovelaceada", "101", {"late": True}),
    ("canvas", "lovelaceada_101_text.html", "lovelaceada", "101", {"called": "onlinetext.html"}),
    ("jupyterhub", f"ada+02_serial+{TIME}+8fK3_aZ-q0Lm", "ada", "", {
        "lesson": "02_serial", "submitted": TIME}),
    ("gradescope", "submission_9001", "submission_9001", "", {}),
    ("folders", "01 Ada", "01 Ada", "", {}),
    ("folders", "ada.v2", "ada.v2", "", {}),
]  # fmt: skip
WITHOUT_NAMES = {"github", "nbgrader"}  # these find the student's name in another place: see below


def test_each_platform_has_its_tests_and_is_on_the_page():
    assert {name for name, *_ in NAMES} == PLATFORMS.keys() - WITHOUT_NAMES
    assert {platform for platform, *_ in FORMS.values()} | {"nbgrader"} == PLATFORMS.keys()
    rows = re.findall(r"^\| `(\w+)` \|", Path("docs/grading.md").read_text("utf-8"), re.M)
    assert PLATFORMS.keys() <= set(rows)


@pytest.mark.parametrize(("platform", "name", "who", "number", "more"), NAMES)
def test_names(tmp_path, platform, name, who, number, more):
    (tmp_path / name).touch() if "called" in more else (tmp_path / name).mkdir()
    [item] = PLATFORMS[platform].items(tmp_path, listed(tmp_path), nobody)
    [claim] = item.claims
    assert claim.spelt == who
    assert next((text for _, text in claim.ids), "") == number
    assert {key: getattr(item, key) for key in more} == more


@pytest.mark.parametrize(
    ("folder", "clone", "own", "lesson"),
    [
        ("02-serial-submissions", "02-serial-ada-l", "ada-l", "02"),
        ("hpc-02-serial_submissions_2026_03_01_T_20_00_00", "hpc-02-serial-ada", "ada", ""),
        ("clones", "02-serial-ada-l", "02-serial-ada-l", ""),
    ],
)
def test_names_of_clones(tmp_path, folder, clone, own, lesson):
    (tmp_path / folder / clone / ".git").mkdir(parents=True)
    [item] = PLATFORMS["github"].items(tmp_path / folder, listed(tmp_path / folder), nobody)
    assert (item.claims[0].spelt, item.lesson) == (own, lesson)


def test_names_of_nbgrader(tmp_path):
    place = tmp_path / "hpc/submitted/ada/02_serial"
    place.mkdir(parents=True)
    (place / "timestamp.txt").write_text(TIME)
    home = below_wrapper(tmp_path / "hpc", "nbgrader")
    [item] = PLATFORMS["nbgrader"].items(home, listed(home), nobody)
    assert (item.claims[0].spelt, item.lesson, item.submitted) == ("ada", "02_serial", TIME)


# A zip of a class, or a folder; its platform, and the students in it.
PACKED = {f"{one}.zip": zipped(one) for one in ("ada", "ben")}
LESSONS = {one: below("02_serial", work(one)) for one in ("ada", "ben")}
FORGED = below("08_1_assignsubmission_file_", work("zoe"))
CLASSES: dict[str, tuple[str, str, Files, set[str]]] = {
    "archives": ("folders", "hpc-submissions", PACKED | {"scores.csv": b"x"}, {"ada", "ben"}),
    "a folder within the zip": ("folders", "class.zip", below("hpc", PACKED), {"ada", "ben"}),
    "Canvas's zip of any name": (
        "canvas", "02-submissions.zip", canvas(), {"lovelaceada", "meyerben", "leeweizo"}),
    "Canvas's folder of any name": (
        "canvas", "hw02-submissions", canvas(), {"lovelaceada", "meyerben", "leeweizo"}),
    "and a folder in it": (
        "canvas", "02-submissions.zip", below("submissions", canvas()),
        {"lovelaceada", "meyerben", "leeweizo"}),
    "clones": ("github", "01-learning-submissions.zip",
               {n: d for n, d in repositories("01-learning").items() if ".git" not in n},
               {"ada-l", "benmey", "zlw"}),
    "a student's folder named as Moodle does": (
        "folders", "class", below("07", FORGED) | below("08", LESSONS["ben"]), {"07", "08"}),
    "a student's own export": (
        "folders", "class",
        below("07", {"submission_metadata.yml": b"02_serial:\n  :submitters: [Ben]\n"}
              | LESSONS["ada"]) | below("08", LESSONS["ben"]), {"07", "08"}),
    "one student alone": (
        "folders", "class", below("ada", below("keras", work("ada")) | LESSONS["ada"]), {"ada"}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("platform", "name", "files", "students"), CLASSES.values(), ids=list(CLASSES)
)
def test_who_is_found(tmp_path, collect, platform, name, files, students):
    collected = collect(write(tmp_path, name, files), platform=platform)
    assert {row.students for row in collected.rows.values()} == students


def test_of_a_class_in_one_zip_checkpoints_are_left_out(tmp_path, collect):
    files = below("ada", LESSONS["ada"]) | below("ben", LESSONS["ben"])
    place = write(tmp_path, "class.zip", files | {"ada/02_serial/model.pt": b"x" * 1000})
    folder = collect(place).folder / "ada/02"
    assert sorted(path.name for path in folder.iterdir()) == ["01_numpy_1234.out", "answers.txt"]


def test_what_belongs_to_nobody_is_named(tmp_path, collect):
    files = moodle() | {"notes.out": b"x", "README.txt": b"x", "mine/a.out": b"x"}
    said = collect(write(tmp_path, "down", files), platform="moodle").stdout
    assert "Files that belong to nobody: notes.out, mine\n" in said


# --- without --from -----------------------------------------------------------------------------


@pytest.mark.parametrize(("platform", "name", "make"), FORMS.values(), ids=list(FORMS))
def test_without_a_platform_one_sentence_names_it(tmp_path, platform, name, make):
    place = write(tmp_path, name, make())
    words = ["collect", str(place), "--into", str(tmp_path / "into")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert f"--from {platform}" in done.stderr
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    ("platform", "files", "words"),
    [
        ("canvas", moodle(), "looks like a download of moodle: use --from moodle"),
        ("moodle", {"notes.txt": b"x"}, "has no submissions with the names that moodle uses"),
    ],
)
def test_another_platform_than_named_is_a_sentence(tmp_path, collect, platform, files, words):
    done = collect(write(tmp_path, "down", files), platform=platform)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_class_within_the_download_is_refused(tmp_path, collect):
    place = write(tmp_path, "down", moodle())
    done = collect(place, platform="moodle", into=place / "class")
    assert (done.exit_code, (place / "class").exists()) == (2, False)


# --- Moodle's worksheet -------------------------------------------------------------------------

SHEET = (
    "Identifier,Full name,Email address,Status,Grade,Last modified (submission),Feedback\n"
    'Participant 5801,Ada Lovelace,ada2@example.org,Submitted,-,"Monday, 2 March 2026, 8:14 PM",\n'
    'Participant 5802,Ada Lovelace,ada@example.org,Submitted,-,"Sonntag, 1. März 2026, 20:14",\n'
    "Participant 5803,Zoë Lee-Wei,zoe@example.org,No submission,-,-,\n"
)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Monday, 2 March 2026, 8:14 PM", "2026-03-02T20:14:00+00:00"),
        ("Sonntag, 1. März 2026, 20:14", "2026-03-01T20:14:00+00:00"),
        ("dimanche 1 mars 2026, 00:05", "2026-03-01T00:05:00+00:00"),
        ("domingo, 1 de marzo de 2026, 12:00 AM", "2026-03-01T00:00:00+00:00"),
        ("-", ""),
        ("31 February 2026, 1:00 PM", ""),
        ("yesterday", ""),
    ],
)
def test_times_of_a_worksheet(text, time):
    from datetime import UTC

    assert time_of(text, UTC) == time


def two_adas(tmp_path) -> tuple:
    """Return Moodle's next assignment, with new numbers and two students of the same name."""
    (tmp_path / "roster.csv").write_text(ROSTER + "ada2,Ada Lovelace,ada2@example.org,,,,,\n")
    files = {}
    for number, student in (("5801", "ada"), ("5802", "zoe")):
        files |= below(f"Ada Lovelace_{number}_assignsubmission_file_", work(student))
    place = write(tmp_path, "down", files)
    return place, "--roster", tmp_path / "roster.csv", "--lesson", "1"


def test_two_of_one_name_need_the_worksheet(tmp_path, collect):
    done = collect(*two_adas(tmp_path), platform="moodle")
    assert done.exit_code == 1
    assert [row.students for row in done.rows.values()] == ["", ""]
    for row in done.rows.values():
        assert row.doubts.startswith("owner uncertain: ")
        assert "it may be from ada or ada2; --worksheet tells them apart" in row.doubts


def test_two_of_one_name_stay_apart_however_their_accents_are_encoded(tmp_path, collect):
    files = {}
    for number, form, student in (("5801", "NFC", "ada"), ("5802", "NFD", "zoe")):
        name = unicodedata.normalize(form, "Zoë Müller")
        files |= below(f"{name}_{number}_assignsubmission_file_", work(student))
    done = collect(write(tmp_path, "down", files), "--lesson", "1", platform="moodle")
    assert len({row.students for row in done.rows.values()}) == 2


def test_the_worksheet_knows_who_it_is_and_when(tmp_path, collect):
    (tmp_path / "01-worksheet.csv").write_text(SHEET)
    words = ("--worksheet", tmp_path / "01-worksheet.csv", "--timezone", "UTC")
    done = collect(*two_adas(tmp_path), *words, platform="moodle")
    assert done.exit_code == 0
    assert {row.students: row.submitted for row in done.rows.values()} == {
        "ada2": "2026-03-02T20:14:00+00:00",
        "ada": "2026-03-01T20:14:00+00:00",
    }
    assert collect(tmp_path / "down", "--timezone", "Mars", platform="moodle").exit_code == 2


def test_a_number_of_another_assignment_is_nobodys(tmp_path, collect):
    """The roster's `moodle_id` 4702 is ben's; here it belongs to one of two namesakes."""
    place, *words = two_adas(tmp_path)
    (place / "Ada Lovelace_5801_assignsubmission_file_").rename(
        place / "Ada Lovelace_4702_assignsubmission_file_"
    )
    rows = collect(place, *words, platform="moodle").rows
    assert [row.students for row in rows.values()] == ["", ""]


def test_looks_like_reads_no_contents(tmp_path):
    assert looks_like(write(tmp_path, "x", export())) == "gradescope"
