"""Groups and names of lessons in manifest.csv."""

import json

import pytest

from autograder.classroom import grading
from tests.autograder.submissions.downloads import below, gradescope, work, write

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


# --- lessons -----------------------------------------------------------------------------------


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
