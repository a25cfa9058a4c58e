"""Merging shards of a class: the same bytes as grading at once, or a sentence on what is wrong.

`test_any_split...` checks this property; the other tests cover what goes wrong with a job array.
"""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record

STUDENTS = ("ada", "ben", "=cmd", "eve\u202e", "joe", "kim", "lea")
TABLES = ("index.html", "grades.csv", "checks.csv", "grades.json", "canvas.csv", "nbgrader.csv")


def run(*words):
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that people read, without hidden files and the shards' own."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.startswith("shard-")
        and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a class with shared runs and missing work; return its home, options and names.

    ada and joe submitted the same runs, kim submitted nothing, and lea a lesson without a rubric.
    One student is missing.
    """
    home = tmp_path_factory.mktemp("class")
    for number, student in enumerate(STUDENTS):
        keras = make_record(job_id="1" if student in ("ada", "joe") else str(10 + number))
        torch = make_record(source="torch", run="b" * 8, job_id=f"2{number}", test_accuracy=0.96)
        hand_in(home / "all" / student / "02_serial", keras=keras, torch=torch)
    shutil.rmtree(home / "all" / "kim" / "02_serial")
    (home / "all" / "lea" / "02_serial").rename(home / "all" / "lea" / "77_unknown")
    (home / "roster.csv").write_text("student,name\nada,Ada L.\nkim,Kim K.\nzoe,Zoe Z.\n")
    (home / "overrides.csv").write_text(
        "student,lesson,check,points,reason\nzoe,02,,8,oral exam\nben,02,,excused,ill\n"
    )
    options = (
        "--profile",
        "full",
        "--roster",
        home / "roster.csv",
        *setting("overrides", home / "overrides.csv"),
        *setting("junit", "true"),
    )
    whole = run("grade", home / "all", "--out", home / "whole", *options)
    return home, options, whole


@pytest.fixture(scope="module")
def graded(made, tmp_path_factory):
    """Return a function that gives the folders of all n shards, grading them on the first call."""
    home, options, _ = made
    known: dict[int, list[Path]] = {}

    def folders(count: int) -> list[Path]:
        if count not in known:
            place = tmp_path_factory.mktemp(f"of{count}")
            known[count] = [place / str(number) for number in range(1, count + 1)]
            for number, out in enumerate(known[count], start=1):
                shard = f"{number}/{count}"
                run("grade", home / "all", "--out", out, "--shard", shard, *options)
        return known[count]

    return folders


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(data=st.data(), count=st.integers(1, 9))
def test_any_split_in_any_order_gives_the_same_bytes(made, graded, tmp_path_factory, data, count):
    home, options, whole = made
    order = data.draw(st.permutations(graded(count)))
    out = tmp_path_factory.mktemp("merged") / "grades"
    merged = run("merge", *order, "--out", out, *options)
    assert (merged.exit_code, merged.stdout) == (whole.exit_code, whole.stdout)
    assert contents(out) == contents(home / "whole")
    assert set(TABLES) < set(contents(out))


def test_what_only_shows_in_the_whole_class_is_found(made, graded, tmp_path):
    """With 3 shards, ada and joe are in different ones."""
    _, options, _ = made
    shards = [run("grade", made[0] / "all", "--out", tmp_path / "x", "--shard", "1/3", *options)]
    assert "also submitted" not in shards[0].stdout
    merged = run("merge", *graded(3), "--out", tmp_path / "out", *options)
    line = next(x for x in merged.stdout.splitlines() if x.startswith("ada"))
    assert "also submitted by joe" in line
    assert "zoe" in merged.stdout


def test_all_shards_may_write_into_the_folder_that_they_are_merged_in(made, tmp_path):
    home, options, _ = made
    out = tmp_path / "grades"
    for shard in ("2/3", "1/3", "3/3"):
        run("grade", home / "all", "--out", out, "--shard", shard, *options)
    run("merge", out, "--out", out, *options)
    assert contents(out) == contents(home / "whole")


def test_grades_are_not_merged_among_the_submissions(made, graded, tmp_path):
    _, options, _ = made
    there = tmp_path / "class"
    there.mkdir()
    (there / "manifest.csv").touch()
    (there / "class.yaml").write_text("junit: true\n")
    words = [*graded(3), "--class", there / "class.yaml", *options]
    for out in (there, there / "sub"):
        result = run("merge", *words, "--out", out)
        assert (result.exit_code, "choose a folder" in result.stderr) == (2, True)
    assert sorted(path.name for path in there.iterdir()) == ["class.yaml", "manifest.csv"]
    assert run("merge", *words, "--out", tmp_path / "grades").exit_code in (0, 1)


@pytest.mark.slow
def test_more_shards_than_students_and_grading_on_from_the_merged(made, tmp_path):
    home, options, _ = made
    for number in range(1, 10):
        run("grade", home / "all", "--out", tmp_path / "out", "--shard", f"{number}/9", *options)
    run("merge", tmp_path / "out", "--out", tmp_path / "out", *options)
    assert contents(tmp_path / "out") == contents(home / "whole")
    run("grade", home / "all", "--out", tmp_path / "out", *options)
    assert contents(tmp_path / "out") == contents(home / "whole")


def cut(folder: Path) -> Path:
    copy = folder.with_name(folder.name + "-cut")
    shutil.copytree(folder, copy)
    part = next(copy.glob("shard-*.jsonl"))
    part.write_bytes(part.read_bytes()[:-40])
    return copy


def unfinished(folder: Path) -> Path:
    copy = folder.with_name(folder.name + "-unfinished")
    shutil.copytree(folder, copy)
    next(copy.glob("shard-*.jsonl")).unlink()
    return copy


def without_page(folder: Path) -> Path:
    copy = folder.with_name(folder.name + "-pageless")
    shutil.copytree(folder, copy)
    next((copy / "students").iterdir()).unlink()
    return copy


@pytest.mark.parametrize(
    ("choose", "sentence"),
    [
        (lambda s: s(4)[:3], "shard 4/4 is missing"),
        (lambda s: s(4)[2:3], "shard 1/4, 2/4, 4/4 are missing"),
        (lambda s: [*s(4), s(4)[1]], "shard 2/4 is given twice"),
        (lambda s: [*s(4), s(3)[1]], "of different splits"),
        (lambda s: [*s(4)[:3], cut(s(4)[3])], "is damaged"),
        (lambda s: [*s(4)[:3], unfinished(s(4)[3])], "holds no shard-I-of-N.jsonl"),
        (lambda s: [without_page(s(4)[0]), *s(4)[1:]], "grade shard 1/4 again"),
    ],
)
def test_what_cannot_be_merged_is_said(made, graded, tmp_path, choose, sentence):
    _, options, _ = made
    result = run("merge", *choose(graded), "--out", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
    assert not (tmp_path / "out" / "index.html").exists()


def test_other_options_than_the_shards_were_graded_with(made, graded, tmp_path):
    home, options, _ = made
    result = run(
        "merge", *graded(2), "--out", tmp_path / "out", *options[:4], *setting("junit", "true")
    )
    assert result.exit_code == 2
    assert "graded with another setting for overrides" in result.stderr
    one = tmp_path / "one"
    smoke = (*options, "--profile", "smoke")
    run("grade", home / "all", "--out", one, "--shard", "1/2", *smoke)
    result = run("merge", one, graded(2)[1], "--out", tmp_path / "out", *options)
    assert f"{one / 'shard-1-of-2.jsonl'} was graded with another setting" in result.stderr


def test_somebody_came_while_the_class_was_graded(made, graded, tmp_path):
    home, options, _ = made
    shutil.copytree(home / "all", tmp_path / "all")
    hand_in(tmp_path / "all" / "aaa" / "02_serial")
    late = tmp_path / "late"
    run("grade", tmp_path / "all", "--out", late, "--shard", "2/2", *options)
    result = run("merge", graded(2)[0], late, "--out", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert "another set of students" in result.stderr


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/0", "-1/3", "1/2/3", ""])
def test_a_shard_that_is_none(made, tmp_path, shard):
    result = run("grade", made[0] / "all", "--out", tmp_path / "out", "--shard", shard)
    assert result.exit_code == 2
    assert "2/8 is the second of eight" in result.stderr


def test_a_shard_needs_a_folder(made):
    assert "--shard needs --out" in run("grade", made[0] / "all", "--shard", "1/2").stderr
