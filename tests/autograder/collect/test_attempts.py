"""Test which of a student's several submissions of one lesson counts."""

import json

import pytest

from autograder.codes import FindingCode
from tests.autograder.submissions.downloads import (
    FIRST,
    ROSTER,
    SECOND,
    below,
    canvas,
    moodle,
    packed,
    write,
)


@pytest.fixture
def grade(collect_and_grade):
    return collect_and_grade


def exchange(day: int) -> str:
    return f"ada+01_learning+2026-03-0{day} 20:00:00.000000 UTC+8fK3_aZ-q0Lm"


def test_of_several_attempts_the_last_counts(tmp_path, grade, collect):
    place = write(tmp_path, "class", {**below(exchange(1), FIRST), **below(exchange(3), SECOND)})
    (line,) = grade(place, "--profile", "smoke", platform="jupyterhub").table
    assert line[2] == "8.25/10"
    record = json.loads((tmp_path / "grades/records/ada.json").read_text())
    (grade_of_lesson,) = record["grades"]
    assert [note["code"] for note in grade_of_lesson["findings"]] == [FindingCode.LATEST_COUNTS]
    again = collect(place, platform="jupyterhub")
    assert (again.exit_code, "To check" in again.stdout) == (0, False)  # it is no doubt


def test_answers_alone_displace_outputs_only_with_a_look(tmp_path, collect):
    answers = {"answers.txt": SECOND["answers.txt"]}
    place = write(tmp_path, "class", {**below(exchange(1), FIRST), **below(exchange(2), answers)})
    done = collect(place, platform="jupyterhub")
    assert done.exit_code == 1
    assert done.rows["ada/01"].doubts.startswith(f"{FindingCode.OUTPUTS_LEFT_OUT}: -: left out")


@pytest.mark.parametrize("place", ["ada", "ada/01_learning"])
def test_an_archive_with_another_number_stays_if_this_lesson_ran(tmp_path, collect, place):
    (answers, words), (name, data) = sorted(FIRST.items())
    files = {f"{place}/{answers}": words, "ada/07 group.zip": packed({name: data})}
    done = collect(write(tmp_path, "class", files), "--lesson", "01")
    found = (path.name for path in (done.folder / "ada/01").rglob("*") if path.is_file())
    assert {*found} == FIRST.keys()


def test_a_later_submission_of_another_lesson_is_no_attempt(tmp_path, collect):
    lessons = {"01_learning": SECOND, "02_serial": FIRST}
    files = {}
    for day, (lesson, work) in enumerate(lessons.items(), 1):
        files |= below(exchange(day).replace("01_learning", lesson), work)
    place = write(tmp_path, "inbound", files)
    for lesson, work in zip(("01", "02"), lessons.values(), strict=True):
        done = collect(place, "--lesson", lesson, platform="jupyterhub")
        assert {path.name for path in (done.folder / "ada" / lesson).iterdir()} == work.keys()
        assert done.rows[f"ada/{lesson}"].doubts == ""


@pytest.mark.parametrize(("platform", "make"), [("canvas", canvas), ("moodle", moodle)])
def test_the_files_of_one_submission_stay_together(tmp_path, collect, platform, make):
    (tmp_path / "roster.csv").write_text(ROSTER)
    words = (write(tmp_path, "download", make()), "--roster", tmp_path / "roster.csv")
    done = collect(*words, platform=platform)
    for folder, row in done.rows.items():
        endings = sorted(path.suffix for path in (done.folder / folder).iterdir())
        assert (endings, row.doubts) == ([".out", ".txt"], "")


def test_without_times_the_last_download_in_the_command_counts(tmp_path, collect):
    places = [write(tmp_path / "in", str(n), below("ada/01_x", files) | below("zoe/01_x", FIRST))
              for n, files in enumerate(({"answers.txt": b"a = 1"}, SECOND))]  # fmt: skip
    folder = collect(*places).folder / "ada/01"
    assert {path.name for path in folder.iterdir()} == SECOND.keys()


# --- from several downloads -------------------------------------------------------------------

# In the order of the times, but not of their texts.
EARLY, LATE = "2026-03-01 23:30:00 Europe/Berlin", "2026-03-01 18:30:00 America/New_York"


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
    "folders of the same name": rounds((SECOND, LATE), (FIRST, EARLY), home="{}/class"),
}


@pytest.mark.parametrize("downloads", ROUNDS.values(), ids=list(ROUNDS))
def test_of_two_downloads_the_last_counts_with_its_time(tmp_path, grade, downloads):
    (tmp_path / "roster.csv").write_text(ROSTER)
    places = [write(tmp_path / "in", name, files) for name, files in downloads.items()]
    words = (*places, "--roster", tmp_path / "roster.csv", "--profile", "smoke")

    grade(*words)
    [last] = json.loads((tmp_path / "grades/records/ada.json").read_text())["grades"]
    assert (last["score"], last["handed_in"]) == (8.25, LATE)
    (note,) = last["findings"]
    times = [EARLY.encode() in files.values() for files in downloads.values()]
    early = f"download {1 + times.index(True)}"
    assert note["actual"].endswith(f"left out: {early}")
    assert "round1" not in (tmp_path / "grades/students/ada.html").read_text()
