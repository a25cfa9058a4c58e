"""Tests that a kept output belongs to one program and one planted change."""

import pytest

from tests.lessons.planted import kept
from tests.lessons.planted import key as keys
from tests.lessons.planted.table import Job, Lesson, Mistake

PROGRAM = '"""Says a word."""\nimport helper\nprint("WORD", helper.NUMBER)  # loudly\n'


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Return a lesson of one program and one module, without kept outputs."""
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
    keys.code_of.cache_clear()
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


def test_a_change_that_no_longer_fits_is_named_and_cannot_be_run(lesson):
    changed(lesson, "train.py", "WORD", "SILENCE")
    assert lesson.misfits() == ["99, wrong: train.py has 0 times: WORD"]
    [printed] = [batch["wrong"] for batch in kept.run(lesson, ["wrong"]) if "wrong" in batch]
    assert "has not once: WORD" in str(printed)


def test_no_folder_of_this_machine_is_kept(lesson):
    changed(lesson, "train.py", "helper.NUMBER", '__import__("sys").path[0] + "/x"')
    keep_all(lesson)
    assert kept.output(lesson, "right")["out"] == "WORD …/x\n"
