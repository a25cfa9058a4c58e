"""Each platform's names as a table, Moodle's worksheet, Gradescope's metadata, and wrong names."""

import re
from datetime import UTC
from pathlib import Path

import pytest

from autograder.collect.platforms import PLATFORMS, time_of
from autograder.settings.roster import Claim
from tests.autograder.submissions.downloads import (
    FORMS,
    ROSTER,
    Files,
    below,
    canvas,
    gradescope,
    moodle,
    repositories,
    work,
    write,
    zipped,
)

TIME = "2026-03-01 20:00:00.123456 UTC"

# Platform, path of a submission; its owner, and what else the name says.
NAMES = [
    ("moodle", "d/T 1-Ada_4701_assignsubmission_file_", "T 1-Ada", {}),
    ("canvas", "d/lovelaceada_LATE_101_2002_w.zip", "lovelaceada", {"late": True}),
    ("canvas", "d/lovelaceada_101_text.html", "lovelaceada", {"called": "onlinetext.html"}),
    ("jupyterhub", f"d/ada+02_serial+{TIME}+8fK3_aZ-q0Lm", "ada", {
        "lesson": "02_serial", "submitted": TIME}),
    ("github", "02-serial-submissions/02-serial-ada-l", "ada-l", {"lesson": "02-serial"}),
    ("nbgrader", "d/ada/02_serial", "ada", {"lesson": "02_serial"}),
    ("folders", "d/ada.v2", "ada.v2", {}),
]  # fmt: skip


def test_each_platform_has_its_tests_and_is_on_the_page():
    assert {name for name, *_ in NAMES} | {"gradescope", "drop"} == PLATFORMS.keys()
    assert {platform for platform, *_ in FORMS.values()} | {"nbgrader", "drop"} == PLATFORMS.keys()
    rows = re.findall(r"^\| `(\w+)` \|", Path("docs/grading.md").read_text("utf-8"), re.M)
    assert PLATFORMS.keys() <= set(rows)


@pytest.mark.parametrize(("platform", "path", "who", "more"), NAMES)
def test_names(tmp_path, platform, path, who, more):
    place = tmp_path / path
    place.parent.mkdir(parents=True)
    place.touch() if "called" in more or place.suffix == ".zip" else place.mkdir()
    home = place.parents[PLATFORMS[platform].depth - 1]
    [item] = PLATFORMS[platform].items(home, {})
    assert [claim.name for claim in item.claims] == [who]
    assert {key: getattr(item, key) for key in more} == more


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
    "clones": ("github", "01-learning-submissions.zip", repositories("01-learning"),
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


@pytest.mark.parametrize(
    ("platform", "files", "words"),
    [
        ("canvas", moodle(), "they look like --from moodle"),
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


def test_a_file_with_a_dot_stops_no_class(tmp_path, collect):
    files = canvas() | {"lovelaceada_101_2003_.gitignore": b"", "nobody_104_2004_.env": b""}
    done = collect(write(tmp_path, "down", files), platform="canvas")
    assert {"lovelaceada/01", "nobody/unknown"} < done.rows.keys()
    assert done.rows["nobody/unknown"].doubts.startswith("nothing found")


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
        ("Sunday, 1 March 2026, 12:00 AM", "2026-03-01T00:00:00+00:00"),
        ("-", ""),
        ("31 February 2026, 1:00 PM", ""),
        ("yesterday", ""),
    ],
)
def test_times_of_a_worksheet(text, time):
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
        assert row.doubts.startswith("owner unknown: -: Ada Lovelace 580")


def test_the_worksheet_knows_who_it_is_and_when(tmp_path, collect):
    (tmp_path / "01-worksheet.csv").write_text(SHEET)
    (tmp_path / "class.yaml").write_text("timezone: UTC\n")
    words = ("--worksheet", tmp_path / "01-worksheet.csv", "--class", tmp_path / "class.yaml")
    done = collect(*two_adas(tmp_path), *words, platform="moodle")
    assert done.exit_code == 0
    assert {row.students: row.submitted for row in done.rows.values()} == {
        "ada2": "2026-03-02T20:14:00+00:00",
        "ada": "2026-03-01T20:14:00+00:00",
    }


# --- Gradescope's metadata ----------------------------------------------------------------------

METADATA = (
    "---\nsubmission_1:\n  :submitters: &1\n  - :name: Ada\n    :sid: 0012\n    :email: ~\n"
    "  - :name: \"Zo\\u00eb\"\n    :sid: ''\n    :email: zoe@example.org\n"
    "  :created_at: &2 2026-03-01 20:00:00.123456789 Z\n  :results: {a: {b: {c: {d: e}}}}\n"
    "  :history:\n  - :created_at: *2\n    :submitters: *1\n"
)


def test_metadata_as_ruby_writes_it(tmp_path):
    files = below("submission_1", work("ada")) | {"submission_metadata.yml": METADATA.encode()}
    [item] = PLATFORMS["gradescope"].items(write(tmp_path, "export", files), {})
    ada, zoe = item.claims
    assert {("sis_id", "0012"), ("name", "Ada")} <= {*ada.ids}
    assert zoe == Claim("zoe@example.org", (("email", "zoe@example.org"), ("name", "Zoë")))
    assert item.submitted == "2026-03-01 20:00:00.123456789+00:00"


def test_a_submission_without_submitters_waits_for_a_person(tmp_path, collect):
    files = gradescope() | below("submission_9", work("ada"))
    files["submission_metadata.yml"] += b"submission_9:\n  :submitters: []\n"
    (tmp_path / "roster.csv").write_text(ROSTER)
    words = ("--roster", tmp_path / "roster.csv")
    done = collect(write(tmp_path, "export", files), *words, platform="gradescope")
    assert (len(done.rows), done.rows["submission_9/01"].students) == (4, "")


@pytest.mark.parametrize("text", ["", "submission_1: [", "submission_1: x\n"])
def test_a_damaged_export_collects_nothing(tmp_path, collect, text):
    files = below("submission_1", work("ada")) | {"submission_metadata.yml": text.encode()}
    done = collect(write(tmp_path, "export", files), platform="gradescope")
    assert (done.exit_code, done.rows) == (2, {})
    assert "submission_metadata.yml is not the metadata" in done.stderr
