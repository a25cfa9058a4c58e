"""`grade --dry-run` says who is there and what is missing, and writes nothing."""

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import make_record, write_lines


@pytest.fixture
def folder(tmp_path):
    for student, lesson in (("ada", "01"), ("ada", "02"), ("ben", "02")):
        write_lines(tmp_path / "class" / student / lesson / "a.out", make_record(lesson=lesson))
    write_lines(tmp_path / "roster.csv", ["student", "ada", "ben"])
    return tmp_path


def run(folder, *words):
    words = ("grade", folder / "class", "--profile", "full", "--dry-run", *words)
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def roster(folder):
    return "--roster", folder / "roster.csv"


def line_of(result, word):
    [line] = [line for line in result.output.splitlines() if word in line]
    return line


def test_it_counts_and_names_who_is_missing(folder):
    result = run(folder, *roster(folder))
    assert result.exit_code == 0
    assert "1 of 2" in line_of(result, "Lesson 01")
    assert line_of(result, "Lesson 01").endswith("ben")
    assert "2 of 2" in line_of(result, "Lesson 02")


def test_nothing_is_written(folder):
    before = sorted(folder.rglob("*"))
    run(folder, "--out", folder / "grades", *roster(folder))
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("path", "named"), [("b.out", "b.out"), ("cyd/02/a.out", "cyd"), ("ben/77_x/a.out", "77_x")]
)  # fmt: skip
def test_what_somebody_should_check_gives_exit_code_1(folder, path, named):
    write_lines(folder / "class" / path, make_record())
    result = run(folder, *roster(folder))
    assert result.exit_code == 1
    assert any(named in line for line in result.output.splitlines()[-2:])


def test_who_submitted_nothing_is_named(folder):
    write_lines(folder / "roster.csv", ["student", "ada", "ben", "eva"])
    result = run(folder, *roster(folder))
    assert (result.exit_code, result.output.splitlines()[-1].split()[-1]) == (1, "eva")


def test_mistakes_in_settings_are_found_before_anything_is_graded(folder):
    write_lines(folder / "overrides.csv", ["student,lesson,check,points,reason", "zed,02,,5,oral"])
    result = run(folder, *roster(folder), "--set", f"overrides={folder / 'overrides.csv'}")
    assert result.exit_code == 2
    assert "zed" in result.output


def test_a_manifests_doubts_are_named(folder):
    head = "folder,students,group,lesson,submitted,late,from,doubts"
    rows = [head, "ada/01,ada,,01,,,,", "ada/02,ada,,02,,,,", "ben/02,,,02,,,,"]
    write_lines(folder / "class" / "manifest.csv", rows)
    result = run(folder)
    assert result.exit_code == 1
    assert "ben/02" in result.output


def test_a_folder_without_work_is_not_counted(folder):
    (folder / "class" / "ben" / "01").mkdir()
    assert "1 of 2" in line_of(run(folder, *roster(folder)), "01")
