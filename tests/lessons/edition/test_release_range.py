"""Tests of `lessons release NN --upto NN`: released weeks, and what later ones reveal."""

import re
import zipfile
from pathlib import Path

import pytest

from lessons.edition.open_elsewhere import in_words, is_program, open_elsewhere
from lessons.edition.release import asked_for, gather, readable
from lessons.folders import lesson_folders

ROOT = Path(__file__).parents[3]
LESSONS = lesson_folders(ROOT / "solutions").keys()


def open_in(files):
    return open_elsewhere(ROOT, {n: readable(n, files[n]) for n in files if is_program(n)})


def test_weeks_that_are_not_yet_handed_out_are_not_in_it(released):
    packed = set(gather(ROOT, LESSONS - asked_for(ROOT, (), "07").keys()))
    missing = set(released) - packed
    assert packed < set(released)
    assert {"autograder/rubrics/08.yaml", "autograder/rubrics/released/08.json"} <= missing
    assert "lessons/08_data/train.py" in missing
    assert not [
        name for name in missing if re.search(r"(^lessons/|rubrics/(released/)?)0[0-7]", name)
    ]
    assert "lessons/toolkit/checks/lesson_08/parts.py" in packed, "the toolkit stays whole"


@pytest.mark.parametrize(
    ("asked", "added"),
    [
        (["00", "1"], []),
        (["03_baseline"], ["02"]),
        (["8"], ["02", "07"]),  # 08 reads 07's program, and 07 reads 02's
        (["00", "02", "10"], []),
        (["04", "02"], ["03"]),
    ],
)
def test_a_lesson_that_another_one_reads_is_added(asked, added):
    chosen = asked_for(ROOT, asked, None)
    assert [number for number, reason in chosen.items() if reason] == added
    assert len(chosen) == len(asked) + len(added)


def test_it_says_which_gaps_are_open_elsewhere(released):
    """Lesson 08 continues from the complete program of lesson 07."""
    found = open_in(released)
    for number in ("7.1", "7.2", "7.3", "7.4"):
        assert "lessons/08_data/train.py" in found[number]
    found = open_in(gather(ROOT, LESSONS - asked_for(ROOT, (), "07").keys()))
    assert not {"7.2", "7.3"} & found.keys()
    assert any("7.4: 08_data/train.py" in line for line in in_words(open_in(released)))
    assert found.keys() < open_in(released).keys()
    first = open_in(gather(ROOT, LESSONS - {"00"}))
    assert {number.split(".")[0] for number in first} <= {"0"}, "no other lesson has gaps here"


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--upto", "1"], "course.zip: ", 0),
        (["--upto", "09"], "There is no lesson 09", 2),
        (["01"], "course.zip: ", 0),
        (["02", "--upto", "01"], "but not both", 2),
    ],
)
def test_a_range_by_the_command(small, lessons_command, words, said, code):
    later = small / "solutions" / "02_later"
    later.mkdir()
    text = (small / "solutions/01_small/lesson.py").read_text()
    (later / "lesson.py").write_text(re.sub(r"\b1\.(\d)", r"2.\1", text).replace("_1_", "_2_"))
    assert lessons_command("build").exit_code == 0
    done = lessons_command("release", "--out", small / "course.zip", *words)
    assert done.exit_code == code, done.output
    assert said in done.output
    assert "Traceback" not in done.output
    if code == 0:
        with zipfile.ZipFile(small / "course.zip") as archive:
            names = archive.namelist()
        assert "dl-on-supercomputers/lessons/01_small/01_small.ipynb" in names
        assert not [name for name in names if "02_later" in name]
