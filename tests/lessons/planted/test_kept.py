"""Tests that a kept output belongs to one program and one planted change."""

import pytest

from tests.lessons.planted import kept
from tests.lessons.planted.plants import Job, Lesson, gaps_of

PROGRAM = '''"""Says a word."""
import helper
### BEGIN SOLUTION Exercise 9.1: say it
print("WORD", helper.NUMBER)  # loudly
### END SOLUTION
'''


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Return a lesson of one program and one module, without kept outputs."""
    source = tmp_path / "99_small"
    source.mkdir()
    (source / "train.py").write_text(PROGRAM)
    (source / "helper.py").write_text("NUMBER = 7\n")
    monkeypatch.setattr(kept, "KEPT", tmp_path / "outputs")
    plants = {
        "wrong": Job(patch={"train.py 9.1": 'print("ANOTHER", helper.NUMBER)'}, of="right"),
        "later": Job(patch={"helper.py": ["7", "8"]}, of="right", after="right"),
    }
    return Lesson(source, {"right": Job(file="99_1.out")}, plants)


def keep_all(lesson):
    for batch in kept.run(lesson, lesson.jobs):
        for job, printed in batch.items():
            assert not isinstance(printed, Exception), printed
            kept.keep(lesson, job, printed)


def changed(lesson, file, old, new):
    path = lesson.source / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    gaps_of.cache_clear()


def test_what_is_kept_is_what_a_real_run_printed(lesson):
    assert kept.stale(lesson) == ["right", "wrong", "later"]
    keep_all(lesson)
    assert kept.stale(lesson) == []
    assert {job: kept.output(lesson, job)["out"] for job in lesson.jobs} == {
        "right": "WORD 7\n",
        "wrong": "ANOTHER 7\n",
        "later": "WORD 8\n",
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        ("train.py", "# loudly", "# louder", []),
        ("train.py", "Says a word.", "Says one word.", []),
        ("train.py", '"WORD", ', '"WORD",\n    ', []),
        ("train.py", "helper.NUMBER", "helper.NUMBER + 1", ["right", "later"]),
        ("helper.py", "7", "7 + 0", ["right", "wrong", "later"]),
    ],
)
def test_only_another_program_makes_it_stale(lesson, file, old, new, stale):
    keep_all(lesson)
    changed(lesson, file, old, new)
    assert kept.stale(lesson) == stale


def test_another_way_to_run_it_makes_its_output_stale(lesson):
    keep_all(lesson)
    lesson.jobs["right"] = Job(run="1")
    assert kept.stale(lesson) == ["right", "later"]


def test_a_patch_that_no_longer_fits_is_named(lesson):
    changed(lesson, "train.py", "9.1", "9.2")
    with pytest.raises(AssertionError, match=r"0 gaps are called 'train\.py 9\.1'"):
        kept.head(lesson, "wrong")
    changed(lesson, "helper.py", "7", "77")
    with pytest.raises(AssertionError, match=r"helper\.py has 2 times: 7"):
        kept.head(lesson, "later")


def test_no_folder_of_this_machine_is_kept(lesson):
    changed(lesson, "train.py", "helper.NUMBER)", '__import__("sys").path[0] + "/x")')
    keep_all(lesson)
    assert kept.output(lesson, "right")["out"] == "WORD …/x\n"
