"""Test which of a student's several submissions of one lesson counts."""

import json

import pytest

from autograder.codes import FindingCode
from autograder.submissions.manifest import doubts_in
from tests.autograder.submissions.downloads import (
    FIRST,
    GOOD,
    ROSTER,
    SECOND,
    below,
    canvas,
    copied,
    moodle,
    packed,
    write,
)


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


def exchange(day: int) -> str:
    return f"ada+01_learning+2026-03-0{day} 20:00:00.000000 UTC+8fK3_aZ-q0Lm"


# The files in the class's folder. The last submission is the better one.
SEVERAL = {
    "exchange": {**below(exchange(1), FIRST), **below(exchange(3), SECOND)},
    "zips, by their files' times": {
        "ada/z-first.zip": copied(FIRST, 1), "ada/second.zip": copied(SECOND, 2)},
    "folders with a time each": {
        **below("ada/01_learning", FIRST | {"timestamp.txt": b"2026-03-01 20:00:00 UTC"}),
        **below("ada/01_again", SECOND | {"timestamp.txt": b"2026-03-02 20:00:00 UTC"})},
    "times in two zones": {
        **below("ada/01_b", FIRST | {"timestamp.txt": b"2026-03-01 23:30:00 Europe/Berlin"}),
        **below("ada/01_a", SECOND | {"timestamp.txt": b"2026-03-01 18:30:00 America/New_York"})},
}  # fmt: skip


def platform_of(files):
    return "jupyterhub" if exchange(1) in {name.partition("/")[0] for name in files} else "folders"


@pytest.mark.parametrize("files", SEVERAL.values(), ids=list(SEVERAL))
def test_of_several_hand_ins_the_last_counts(tmp_path, grade, collect, files):
    place = write(tmp_path, "class", files)
    (line,) = grade(place, "--profile", "smoke", "--latest", platform=platform_of(files)).table
    assert line[2] == "8.2/10"
    record = json.loads((tmp_path / "grades/records/ada.json").read_text())
    (found,) = record["grades"]
    assert [one["code"] for one in found["findings"]] == [FindingCode.LATEST_COUNTS]
    again = collect(place, "--latest", platform=platform_of(files))
    assert (again.exit_code, "To check" in again.stdout) == (0, False)  # it is no doubt
    (line,) = grade(place, "--profile", "smoke", platform=platform_of(files)).table
    page = (tmp_path / "grades/students/ada.html").read_text()
    assert "has different answers, so none counts" in page
    (line,) = grade(place, "--profile", "smoke", "--latest", platform=platform_of(files)).table
    assert line[2] == "8.2/10"  # with other options the grade changes, despite the cache


@pytest.mark.parametrize(("platform", "make"), [("canvas", canvas), ("moodle", moodle)])
def test_the_files_of_one_hand_in_stay_together(tmp_path, grade, platform, make):
    (tmp_path / "roster.csv").write_text(ROSTER)
    words = (write(tmp_path, "download", make()), "--roster", tmp_path / "roster.csv")
    words = (*words, "--profile", "smoke")
    latest = grade(*words, "--latest", platform=platform).table
    assert grade(*words, platform=platform).table == latest
    files = {"ada/work.zip": packed({"a_1.out": GOOD}), "ada/answers.txt": SECOND["answers.txt"]}
    place = write(tmp_path, "class", files)
    assert grade(place, "--profile", "smoke", "--latest").table[0][2] == "8.2/10"


@pytest.mark.parametrize(
    "names",
    ["lovelaceada_101_{}_w{}.zip", "Ada_4701_assignsubmission_file_/{}{}.zip", "ada/01_{}/w{}.zip"],
)
def test_packages_that_count_together_are_reported(tmp_path, collect, names):
    files = {names.format(n, n): packed(one) for n, one in enumerate((FIRST, SECOND), 1)}
    platform = {"l": "canvas", "A": "moodle"}.get(names[0], "folders")
    done = collect(write(tmp_path, "down", files), "--lesson", "01", platform=platform)
    [row] = done.rows.values()
    assert [one.code for one in doubts_in(row)] == [FindingCode.SEVERAL_FOLDERS]


def test_downloads_that_count_together_are_reported(tmp_path, collect):
    places = [write(tmp_path / "in", str(n), below("ada", one) | below("zoe", one))
              for n, one in enumerate((FIRST, SECOND))]  # fmt: skip
    for row in collect(*places, "--lesson", "01").rows.values():
        assert [one.code for one in doubts_in(row)] == [FindingCode.SEVERAL_FOLDERS]


# --- from several downloads -------------------------------------------------------------------

EARLY, LATE = ("2026-03-01 20:00:00 UTC", "2026-03-09 20:00:00 UTC")


def rounds(*parts, inner="01_learning", home="{}"):
    """Return downloads that each have one submission of ada, with the same name, and zoe's."""
    return {
        home.format(f"round{number}"): {
            **below(f"ada/{inner}", files | {"timestamp.txt": time.encode()}),
            **below("zoe/01_learning", FIRST),
        }
        for number, (files, time) in enumerate(parts, 1)
    }


# The name and content of each download. The submission with the latest time is the better one.
ROUNDS = {
    "the later last": rounds((FIRST, EARLY), (SECOND, LATE)),
    "the later first": rounds((SECOND, LATE), (FIRST, EARLY)),
    "zips of a class": rounds((SECOND, LATE), (FIRST, EARLY), home="{}.zip"),
    "no folder of a lesson": rounds((SECOND, LATE), (FIRST, EARLY), inner="work"),
    "folders called alike": rounds((SECOND, LATE), (FIRST, EARLY), home="{}/class"),
}


@pytest.mark.parametrize("downloads", ROUNDS.values(), ids=list(ROUNDS))
def test_of_two_downloads_the_last_counts_with_its_time(tmp_path, grade, downloads):
    (tmp_path / "roster.csv").write_text(ROSTER)
    places = [write(tmp_path / "in", name, files) for name, files in downloads.items()]
    words = (*places, "--roster", tmp_path / "roster.csv", "--profile", "smoke")

    def ada(*more):
        grade(*words, *more)
        record = json.loads((tmp_path / "grades/records/ada.json").read_text())
        return record["grades"][0]

    found = ada("--latest")
    assert (found["score"], found["handed_in"]) == (8.2, LATE)
    (told,) = found["findings"]
    times = [EARLY.encode() in files.values() for files in downloads.values()]
    early = f"download {1 + times.index(True)}"
    assert told["actual"].endswith(f"left out: {early}")
    assert ada("--latest") == found  # also where it was unpacked anew
    both = ada()
    assert both["handed_in"] == LATE  # it was complete only then
    assert FindingCode.ANSWERED_TWICE in [one["code"] for one in both["findings"]]
    assert "round1" not in (tmp_path / "grades/students/ada.html").read_text()


def test_what_is_left_out_is_called_as_it_was_given(tmp_path, grade):
    files = {"ada/v1.zip": copied(FIRST, 1), "ada/v2.zip": copied(SECOND, 2)}
    for home in ("one", "another"):
        place = write(tmp_path / home, "class", files | below("zoe", FIRST))
        grade(place, "--profile", "smoke", "--latest")
        record = (tmp_path / "grades/records/ada.json").read_text()
        (told,) = json.loads(record)["grades"][0]["findings"]
        assert told["actual"].endswith("left out: v1.zip")
        assert str(tmp_path) not in record
