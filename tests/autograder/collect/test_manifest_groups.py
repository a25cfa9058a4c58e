"""Groups, times and names of lessons in manifest.csv."""

import json

import pytest

from autograder.classroom import grading
from tests.autograder.submissions.downloads import below, canvas, gradescope, work, write

GROUPS = "group,student\nteam 1,ada\nteam 1,ben\n"


# --- groups -------------------------------------------------------------------------------------


@pytest.fixture
def marked(monkeypatch):
    """Collect the folders that are actually graded."""
    folders = []
    really = grading.grade
    monkeypatch.setattr(
        grading, "grade", lambda s, settings: folders.append(s.folder) or really(s, settings)
    )
    return folders


def test_a_groups_submission_is_graded_once(tmp_path, collect, grade, roster, marked, points):
    (tmp_path / "groups.csv").write_text(GROUPS)
    files = below("ada", work("ada")) | below("zoe", work("zoe"))
    place = write(tmp_path, "class", files)
    collected = collect(place, *roster, "--groups", tmp_path / "groups.csv")
    assert collected.rows["ada/01"].students == "ada; ben"
    assert collected.rows["ada/01"].group == "team 1"
    result = grade(collected.folder, "--profile", "smoke", "--jobs", 1)
    assert marked == ["ada/01", "zoe/01"]
    assert points(result) == {
        ("ada", "01"): "8.25/10", ("ben", "01"): "8.25/10", ("zoe", "01"): "5.25/10"}  # fmt: skip


def test_who_submits_later_leaves_the_partners_row(tmp_path, collect, roster):
    (tmp_path / "groups.csv").write_text(GROUPS)
    words = (*roster, "--groups", tmp_path / "groups.csv")
    collect(write(tmp_path, "first", below("ada", work("ada"))), *words)
    done = collect(write(tmp_path, "second", below("ben", work("ben"))), *words)
    assert {row.folder: row.students for row in done.rows.values()} == {
        "ada/01": "ada", "ben/01": "ben"}  # fmt: skip
    assert {row.group for row in done.rows.values()} == {"team 1"}


def test_one_submission_of_two_is_one_folder(tmp_path, collect, grade, roster, marked, points):
    files = gradescope()
    kim = "  - :name: Kim\n    :sid: ''\n    :email: kim@example.org\n  :created_at"
    told = files["submission_metadata.yml"].decode().replace("  :created_at", kim, 1)
    files["submission_metadata.yml"] = told.encode()
    done = collect(write(tmp_path, "down", files), *roster, platform="gradescope")
    assert done.rows["ada+kim/01"].students == "ada; kim"
    result = grade(done.folder, "--profile", "smoke", "--jobs", 1)
    assert marked.count("ada+kim/01") == 1
    assert points(result)["kim", "01"] == points(result)["ada", "01"] == "8.25/10"
    record = json.loads((result.folder / "records/kim.json").read_text())
    assert record["grades"][0]["handed_in"].startswith("2026-03-01 20:00:00")


# --- times --------------------------------------------------------------------------------------


def test_times_of_the_instructor(tmp_path, collect, roster):
    (tmp_path / "times.csv").write_text("student,lesson,time\nAda Lovelace,1,2026-03-01T20:00Z\n")
    words = (*roster, "--times", tmp_path / "times.csv")
    place = write(tmp_path, "down", canvas())
    rows = collect(place, *words, platform="canvas").rows
    assert rows["ada/01"].submitted == "2026-03-01T20:00:00+00:00"
    for student, listed in (("ben", False), ("bem", True)):
        (tmp_path / "times.csv").write_text(f"student,lesson,time\n{student},1,2026-03-01T20:00Z\n")
        again = collect(place, *words, platform="canvas")
        assert (f"{student}/01" in again.stdout) is listed


def test_only_the_same_submission_keeps_a_time_that_the_download_lacks(tmp_path, collect, roster):
    (tmp_path / "times.csv").write_text("student,lesson,time\nben,1,2026-03-01T20:00Z\n")
    first, told = write(tmp_path, "first", canvas()), ("--times", tmp_path / "times.csv")
    time = collect(first, *roster, *told, platform="canvas").rows["ben/01"].submitted
    assert time
    for _ in range(2):
        again = collect(first, *roster, platform="canvas")
        assert again.rows["ben/01"].submitted == time
    changed = {
        name: data + b"\n# changed" if "meyerben" in name else data
        for name, data in canvas().items()
    }
    newer = write(tmp_path, "newer", changed)
    assert collect(newer, *roster, platform="canvas").rows["ben/01"].submitted == ""


def test_work_after_an_unreadable_submission_does_not_get_its_time(tmp_path, collect, roster):
    (tmp_path / "times.csv").write_text("student,lesson,time\nben,1,2026-03-01T20:00Z\n")
    damaged = write(tmp_path, "damaged", {"ben/01.zip": b"PK no archive"})
    first = collect(damaged, *roster, "--times", tmp_path / "times.csv").rows["ben/01"]
    again = collect(write(tmp_path, "again", below("ben", work("ben"))), *roster).rows["ben/01"]
    assert (bool(first.submitted), again.submitted) == (True, "")


def test_a_time_that_was_removed_from_the_table_is_gone(tmp_path, collect, roster):
    place, times = write(tmp_path, "down", canvas()), tmp_path / "times.csv"
    for lines, submitted in (("ada,1,2026-03-01T20:00Z\nben,1,2026-03-02T20:00Z\n", True),
                             ("ada,1,2026-03-01T20:00Z\n", False)):  # fmt: skip
        times.write_text(f"student,lesson,time\n{lines}")
        rows = collect(place, *roster, "--times", times, platform="canvas").rows
        assert (rows["ada/01"].submitted != "", rows["ben/01"].submitted != "") == (True, submitted)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("ada,x,2026-03-01T20:00Z\n", "times.csv:2: there is no rubric"),
        ("ada,01,noon\n", "times.csv:2: 'noon' is not a time of this century"),
        ("ada,01,0206-03-01T20:00Z\n", "not a time of this century"),
        (2 * "ada,01,2026-03-01T20:00Z\n", "times.csv:3: ada has two times for lesson 01"),
    ],
)
def test_a_slip_in_the_times_collects_nothing(tmp_path, collect, rows, words):
    (tmp_path / "times.csv").write_text(f"student,lesson,time\n{rows}")
    place = write(tmp_path, "down", canvas())
    done = collect(place, "--times", tmp_path / "times.csv", platform="canvas")
    assert (done.exit_code, done.folder.exists()) == (2, False)
    assert words in done.stderr


@pytest.mark.parametrize("lesson", ["practical1", "02"])
def test_any_identifier_is_a_lesson(tmp_path, collect, grade, lesson, points):
    """Any identifier can name a lesson, and with a single rubric none is needed."""
    (tmp_path / "rubrics").mkdir()
    (tmp_path / f"rubrics/{lesson}.yaml").write_text(
        f"lesson: '{lesson}'\ntitle: One\npoints: 1\nruns: {{a: {{where: {{source: a}}, "
        "or_format: [keras]}}\nchecks: [{id: e, title: t, points: 1, require: "
        "[{metric: epochs, of: a, equal: 2}]}]\n"
    )
    log = "".join(f"Epoch {n}/2\n1/1 - 1s - loss: 0.5\n" for n in (1, 2)).encode()
    words = ("--rubrics", tmp_path / "rubrics")
    for number, folder in enumerate((f"ada/{lesson}", "ada", "ada/anything", f"ada/{lesson}_x")):
        place = write(tmp_path, f"class{number}", {f"{folder}/job_1.out": log})
        rows = collect(place, *words, into=tmp_path / f"into{number}").rows
        assert list(rows) == [f"ada/{lesson}"]
        for home in (place, tmp_path / f"into{number}"):
            found = points(grade(home, *words, out=tmp_path / f"grades{number}{home.name}"))
            assert found == {("ada", lesson): "1/1"}
