"""Tests that every row of the tables of faults has a run with its numbers."""

from pathlib import Path

import pytest

from tests.lessons.planted.judged import graded, runs_of
from tests.lessons.planted.lessons import LESSONS
from tests.lessons.programs.faults import (
    SOLUTIONS,
    TRACES,
    Kept,
    MadeBy,
    NotHere,
    close,
    faults_of,
    rows_of,
)
from tests.lessons.programs.rows import ROWS

HERE = Path(__file__).parent
PROOFS = [
    (lesson, words, proof)
    for lesson, rows in ROWS.items()
    for words, proofs in rows.items()
    for proof in proofs
]


def row_with(lesson, words):
    [row] = [row for row in rows_of(lesson) if words in row]
    return row


@pytest.mark.parametrize("lesson", ROWS)
def test_every_row_has_a_run_or_says_why_not(lesson):
    told = {row_with(lesson, words) for words in ROWS[lesson]}
    assert len(told) == len(ROWS[lesson]), "a row is told of twice"
    assert [row for row in rows_of(lesson) if row not in told] == []
    assert all(ROWS[lesson].values())


def kept_cases():
    for lesson, words, proof in PROOFS:
        if isinstance(proof, Kept):
            yield pytest.param(lesson, words, proof, id=f"{lesson} {proof.job}")


@pytest.mark.parametrize(("lesson", "words", "proof"), [*kept_cases()])
def test_the_kept_run_shows_what_the_row_says(lesson, words, proof):
    row = row_with(lesson, words)
    runs = runs_of(lesson, proof.job)
    runs = [r for r in runs if all(r.header[name] == v for name, v in proof.where.items())]
    assert runs
    for run in runs:
        for trace, told in proof.numbers.items():
            assert told in row, f"{trace}: the row does not say {told}"
            assert close(TRACES[trace](run), told), trace
        for trace, right in proof.also.items():
            assert TRACES[trace](run) == right, trace


def test_a_wrong_number_would_be_seen():
    [run] = runs_of("06", "lazy 6.4 own gradients")
    assert close(TRACES["accuracy"](run), "0.924")
    assert not close(TRACES["accuracy"](run), "0.890")
    assert not close(TRACES["spread"](run), "0")


@pytest.mark.parametrize(
    ("lesson", "words", "proof"), [each for each in PROOFS if isinstance(each[2], MadeBy)]
)
def test_the_test_that_makes_the_run_is_there(lesson, words, proof):
    text = (HERE / proof.file).read_text(encoding="utf-8")
    assert text.count(f"\ndef {proof.test}") == 1


@pytest.mark.parametrize(
    ("lesson", "words", "proof"), [each for each in PROOFS if isinstance(each[2], NotHere)]
)
def test_what_nobody_here_can_run_says_so(lesson, words, proof):
    assert proof.said in row_with(lesson, words)


@pytest.mark.parametrize(
    "lesson", [lesson for lesson in ROWS if [*SOLUTIONS.glob(f"{lesson}_*/break_it.py")]]
)
def test_the_page_explains_every_fault_that_can_be_chosen(lesson):
    [page] = SOLUTIONS.glob(f"{lesson}_*/lesson.py")
    text = page.read_text(encoding="utf-8")
    section = text[text.index("# ## Break it") :]
    for fault in faults_of(lesson):
        assert f"`{fault}` |" in section or f"`--without {fault}`" in section, fault


# What three records of another size say: the question and its answer.
QUESTIONS = [
    ("05", "faults_4_replicas", "CAB"),
    ("06", "faults_4_ranks", "BAC"),
    ("08", "faults_4_ranks", "BCA"),
    ("09", "faults_4_workers", "CBA"),
    ("07", "told_apart", "b"),
]


@pytest.mark.parametrize(("lesson", "question", "right"), QUESTIONS)
def test_who_takes_one_fault_for_another_is_told_by_what_to_tell_them(lesson, question, right):
    wrong = right[::-1] if len(right) == 3 else "a"
    for given, credit in ((right, 1), (wrong, 0)):
        grade = graded(lesson, {"answers.txt": f"{question} = {given}\n"})
        [answers] = [check for check in grade["checks"] if check["id"] == "answers"]
        [part] = [part for part in answers["parts"] if part["name"] == question]
        assert part["credit"] == credit, given
        assert bool(part["advice"]) == (given == wrong)


def test_all_lessons_of_the_tables_have_planted_mistakes():
    assert ROWS.keys() <= LESSONS.keys()
