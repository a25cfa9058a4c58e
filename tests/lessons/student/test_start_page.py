"""Tests of the start page: the next step, how long it takes, and what is done."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from cluster.sites import site_files
from lessons.folders import lesson_folders
from lessons.student import after_checks
from lessons.student.start_page import start_page

ROOT = Path(__file__).parents[3]


@pytest.fixture
def lessons(tmp_path):
    """Make a student's first three lessons, untouched."""
    for number, folder in lesson_folders(ROOT / "lessons").items():
        if number <= "02":
            shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path


def rows(page):
    """Return lesson -> (ticked, link, time, state)."""
    row = re.compile(r"^\| (✓ )?\[(\d\d) · [^]]+\]\(([^)]+)\) \| ([^|]*) \| ([^|]*) \|$", re.M)
    return {found[1]: (bool(found[0]), *found[2:]) for found in row.findall(page)}


def next_of(page):
    return re.search(r"^\*\*.*?\[(\d\d) · ", page, re.M)


def fill(folder):
    """Fill a gap with something; the page does not ask whether it is right."""
    for file in folder.iterdir():
        if file.suffix in (".py", ".ipynb", ".sbatch"):
            text = re.sub(r"raise NotImplementedError\([^)]*\)", "pass", file.read_text())
            file.write_text(re.sub(r"(?m)=$", "=2", text) if file.suffix == ".sbatch" else text)


def test_an_untouched_course_begins_with_the_first_lesson(lessons):
    page = start_page(lessons)
    assert next_of(page)[1] == "00"
    assert list(rows(page)) == ["00", "01", "02"]
    for number, (ticked, link, takes, state) in rows(page).items():
        assert not ticked
        assert (lessons / link).is_file()
        assert link.endswith(f"/{Path(link).parent}.ipynb")
        assert re.fullmatch(r"\d+ minutes", takes)
        assert re.fullmatch(r"\d exercises to fill in", state), number


def test_before_the_first_job_a_site_is_chosen_where_there_is_a_batch_system(
    lessons, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COURSE_SITE", raising=False)
    monkeypatch.setattr(site_files, "BATCH_COMMANDS", ())
    assert "cluster use" not in start_page(lessons)
    monkeypatch.setattr(site_files, "BATCH_COMMANDS", ("sh",))
    assert "cluster use" in start_page(lessons)


def test_what_is_done_is_ticked_and_the_next_lesson_named(lessons, monkeypatch):
    first = lessons / "00_cluster"
    fill(first)
    page = start_page(lessons)
    assert rows(page)["00"][::3] == (False, "exercises filled in")  # no job has run
    assert next_of(page)[1] == "00"
    (first / "00_cluster_1.out").write_text("task 0 of 2\n")
    page = start_page(lessons)
    ticked, state = rows(page)["00"][::3]
    assert not ticked
    assert "Points are lost in 00: `lessons submit 00`" in page
    assert re.fullmatch(r"exercises filled in, jobs ran, .* of 10 points .*", state)
    monkeypatch.setattr("lessons.student.start_page.at_present", lambda *_: ("10", (), True))
    assert rows(start_page(lessons))["00"][0] is True
    assert "Points are lost" not in start_page(lessons)
    assert next_of(page)[1] == "01"
    (first / "more.py").write_text('raise NotImplementedError("Answer: set one_line")\n')
    assert rows(start_page(lessons))["00"][0] is False
    assert "answers to fill in" in rows(start_page(lessons))["00"][3]
    (first / "more.py").unlink()
    (lessons / "00_cluster.zip").touch()
    assert rows(start_page(lessons))["00"][3].endswith("packed")


def test_the_next_lesson_lists_what_is_missing(lessons):
    (lessons / "00_cluster" / "answers.txt").write_text("faults_jobs = A\n")
    page = start_page(lessons)
    assert page.startswith("# Deep Learning on Supercomputers\n\n**Go on with [00 · ")
    assert "\n- no output of any job" in page
    assert re.search(r"^- and \d+ more", page, re.M)


def test_a_submission_and_a_check_write_the_page_again(lessons, lessons_command, monkeypatch):
    folder, page = lessons / "02_serial", lessons / "START.md"
    monkeypatch.chdir(folder)
    page.touch()
    (folder / "answers.txt").write_text("predict_accuracy = 0.9\n")
    assert lessons_command("submit").exit_code == 0
    assert page.read_text() == start_page(lessons)
    fill(folder)
    for cell in ("", 'course.check("2.5", seconds_from_us)'):
        after_checks.update(SimpleNamespace(info=SimpleNamespace(raw_cell=cell)))
    assert page.read_text() == start_page(lessons)
    assert rows(page.read_text())["02"][3].startswith("exercises filled in")


def test_a_damaged_notebook_hides_no_other_lesson(lessons):
    (lessons / "00_cluster" / "00_cluster.ipynb").write_text('{"cells": ')
    assert list(rows(start_page(lessons))) == ["01", "02"]
