"""Tests that the numbers in the tables of faults are those of a run."""

import re

import pytest

from autograder.settings import rubric
from tests.lessons.planted.judged import graded, runs_of
from tests.lessons.programs.faults import NUMBERS, SOLUTIONS, TRACES, faults_of


def close(found: float, told: str) -> bool:
    """Compare as printed: to half of the last digit."""
    digits = len(told.partition(".")[2])
    return abs(found - float(told)) <= 0.5001 * 10**-digits


@pytest.mark.parametrize(("lesson", "words"), NUMBERS)
def test_the_kept_run_has_the_numbers_of_the_row(lesson, words):
    [page] = SOLUTIONS.glob(f"{lesson}_*/lesson.py")
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("# |") and words in line]
    assert len(rows) == 1
    for job, numbers, where in NUMBERS[lesson, words]:
        runs = [run for run in runs_of(lesson, job) if run.header["source"] != "probe"]
        runs = [r for r in runs if all(r.header[n] == v for n, v in where.items())]
        assert runs
        for trace, told in numbers.items():
            assert told in re.findall(r"\d+(?:\.\d+)?", rows[0])
            assert all(close(TRACES[trace](run), told) for run in runs), (job, trace)


def test_a_wrong_number_would_be_seen():
    [run] = runs_of("06", "lazy 6.4 own gradients")
    assert close(TRACES["accuracy"](run), "0.924")
    assert not close(TRACES["accuracy"](run), "0.920")
    assert not close(TRACES["spread"](run), "0.23")


@pytest.mark.parametrize("lesson", sorted({lesson for lesson, _ in NUMBERS} - {"10"}))
def test_the_page_explains_every_fault_that_can_be_chosen(lesson):
    [page] = SOLUTIONS.glob(f"{lesson}_*/lesson.py")
    text = page.read_text(encoding="utf-8")
    section = text[text.index("# ## Break it") :]
    for fault in faults_of(lesson):
        assert f"`{fault}` |" in section or f"`--without {fault}`" in section, fault


# What the records of another number of ranks say: the question about them.
QUESTIONS = [
    ("01", "five_runs"),
    ("05", "five_runs"),
    ("06", "four_runs"),
    ("07", "six_runs"),
    ("08", "four_runs"),
    ("09", "five_runs"),
]


@pytest.mark.parametrize(("lesson", "question"), QUESTIONS)
def test_who_takes_one_fault_for_another_is_told_by_what_to_tell_them(lesson, question):
    asked = rubric.load_rubric(rubric.FOLDER / f"{lesson}.yaml")
    right = rubric.load_expected(rubric.FOLDER / "expected" / f"{lesson}.yaml", asked)[question]
    wrong = right[::-1]
    for given, credit in ((right, 1), (wrong, 0)):
        grade = graded(lesson, {"answers.txt": f"{question} = {given}\n"})
        [answers] = [check for check in grade["checks"] if check["id"] == "answers"]
        [part] = [part for part in answers["parts"] if part["name"] == question]
        assert part["credit"] == credit, given
        assert bool(part["advice"]) == (given == wrong)
