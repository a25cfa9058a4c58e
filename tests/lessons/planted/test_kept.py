"""A kept output is used only while it is that of today's program; else the job is run for real."""

import shutil

import pytest

from tests.lessons.planted import judged, kept
from tests.lessons.planted import key as keys
from tests.lessons.planted.table import Job, Lesson, Mistake

PROGRAM = '"""Says a word."""\nimport helper\nprint("WORD", helper.NUMBER)  # loudly\n'


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """A lesson of one program and one module, and nothing kept of it."""
    source = tmp_path / "99_small"
    source.mkdir()
    (source / "train.py").write_text(PROGRAM)
    (source / "helper.py").write_text("NUMBER = 7\n")
    monkeypatch.setattr(kept, "KEPT", tmp_path / "outputs")
    monkeypatch.setattr(Lesson, "source", source)
    jobs = {
        "right": Job(),
        "wrong": Job((("train.py", "WORD", "ANOTHER"),)),
        "later": Job((("helper.py", "7", "8"),), after="right"),
    }
    mistakes = {"wrong": Mistake("wrong", {}), "later": Mistake("later", {})}
    found = Lesson("99_small", jobs, {"99_1.out": "right"}, mistakes)
    for number in list(kept.LESSONS):
        monkeypatch.delitem(kept.LESSONS, number)
    monkeypatch.setitem(kept.LESSONS, "99", found)
    keys.code_of.cache_clear()
    kept.run_stale.cache_clear()
    return found


def keep_all(lesson):
    for batch in kept.run(lesson, lesson.jobs):
        for job, printed in batch.items():
            assert not isinstance(printed, Exception), printed
            kept.keep(lesson, job, printed)


def changed(lesson, file, old, new):
    path = lesson.source / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    keys.code_of.cache_clear()


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
        ("train.py", "helper.NUMBER", "helper.NUMBER + 1", ["right", "wrong", "later"]),
        ("helper.py", "7", "77", ["right", "wrong", "later"]),
    ],
)
def test_only_another_program_makes_it_stale(lesson, file, old, new, stale):
    keep_all(lesson)
    changed(lesson, file, old, new)
    assert kept.stale(lesson) == stale


def test_another_planted_change_makes_its_output_stale(lesson):
    keep_all(lesson)
    lesson.jobs["wrong"] = Job((("train.py", "WORD", "OTHER"),))
    assert kept.stale(lesson) == ["wrong"]
    lesson.jobs["right"] = Job(words=("1",))
    assert kept.stale(lesson) == ["right", "wrong", "later"]


@pytest.mark.parametrize("gone", [True, False])
def test_a_missing_or_stale_output_is_a_real_run_in_the_slow_suite(lesson, gone):
    keep_all(lesson)
    assert [case.marks for case in judged.cases("99")] == [[], []]
    assert kept.told() == ""
    if gone:
        shutil.rmtree(kept.KEPT)
    changed(lesson, "helper.py", "7", "77")
    names = [[mark.name for mark in case.marks] for case in judged.cases("99")]
    assert names == [["slow", "ranks"]] * 2
    with pytest.warns(match="make planted"):
        assert kept.output(lesson, "wrong")["out"] == "ANOTHER 77\n"
    assert "99 (3)" in kept.told()


def test_a_change_that_no_longer_fits_is_named_and_passes_nothing(lesson):
    keep_all(lesson)
    changed(lesson, "train.py", "WORD", "WORDS")
    assert lesson.misfits() == []
    changed(lesson, "train.py", "WORDS", "SILENCE")
    assert lesson.misfits() == ["99, wrong: train.py has 0 times: WORD"]
    with (
        pytest.warns(match="make planted"),
        pytest.raises(AssertionError, match="has not once: WORD"),
    ):
        kept.output(lesson, "wrong")


def test_no_folder_of_this_machine_is_kept(lesson):
    changed(lesson, "train.py", "helper.NUMBER", '__import__("sys").path[0] + "/x"')
    keep_all(lesson)
    assert kept.output(lesson, "right")["out"] == "WORD …/x\n"
