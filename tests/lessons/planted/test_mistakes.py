"""Each planted mistake, run for real once and its output kept: the grader names what it broke."""

import pytest

from tests.lessons.planted import kept
from tests.lessons.planted.judged import (
    cases,
    grade_of,
    graded,
    job_cases,
    reasons,
    runs_of,
    unexpected,
)
from tests.lessons.planted.lazies import LAZIES
from tests.lessons.planted.lazy import missing
from tests.lessons.planted.lessons import LESSONS
from tests.lessons.planted.lessons.lesson_06 import PLANTED, SHOWS_IN_SPREAD
from tests.lessons.planted.table import ROOT


@pytest.mark.parametrize("number", LESSONS)
def test_every_planted_change_fits_the_program_of_today(number):
    assert LESSONS[number].misfits() == []


@pytest.mark.parametrize("number", LAZIES)
def test_every_gap_of_every_program_has_lazy_answers_that_lose_points(number):
    [source] = ROOT.glob(f"solutions/{number}_*")
    assert missing(source, LAZIES[number]) == []
    rows = [row for rows in LAZIES[number].values() for row in rows.values()]
    assert all(row.loses for row in rows)


def test_the_kept_outputs_stay_small():
    assert sum(file.stat().st_size for file in kept.KEPT.rglob("*.txt")) < 4_000_000


@pytest.mark.parametrize(("number", "mistake"), [each for n in LESSONS for each in cases(n)])
def test_the_grader_names_what_a_mistake_broke(number, mistake):
    assert unexpected(number, mistake) == {}


def check_of(grade, name):
    [found] = [check for check in grade["checks"] if check["id"] == name]
    return found


@pytest.mark.parametrize(("number", "mistake"), cases("03"))
def test_a_network_of_1000_classes_is_told_by_its_size(number, mistake):
    told = "25,613,800" in check_of(grade_of(number, mistake), "network")["found"]
    assert told == (mistake == "1000 classes")


@pytest.mark.parametrize(
    ("number", "job"), job_cases("03", "own task", "own task on few", "own task in large")
)
def test_the_own_task_is_asked_at_the_baselines_size(number, job):
    output = kept.output(LESSONS[number], job)["out"]
    own = check_of(graded(number, {"03_baseline_1.out": output}), "resnet152")
    told = {
        "own task on few": ["unique samples of resnet152 = 512"],
        "own task in large": ["image size of resnet152 = 32"],
    }
    parameters = "parameters of resnet152 = 58,352,138"
    assert own["expected"].split("; ") == [parameters, *told.get(job, [])]


@pytest.mark.parametrize(("number", "mistake"), cases("04", "no prefetch"))
def test_the_grader_names_a_missing_source_too(number, mistake):
    files = LESSONS[number].files_of(mistake)
    texts = {name: kept.output(LESSONS[number], job)["out"] for name, job in files.items()}
    lines = texts["04_feeding_1.out"].splitlines(keepends=True)
    header = next(line for line in lines if '"source":"memory"' in line)
    memory = header.partition('"run":')[2][:10]
    texts["04_feeding_1.out"] = "".join(line for line in lines if memory not in line)
    assert reasons(graded(number, texts)).keys() == {"overlap", "whole-set", "sources"}


@pytest.mark.parametrize(("number", "job"), job_cases("05", "a network built outside the scope"))
def test_a_network_built_outside_the_scope_ends_the_job(number, job):
    errors = kept.output(LESSONS[number], job)["err"]
    assert "not created in the distribution strategy scope" in errors


@pytest.mark.parametrize(("number", "mistake"), cases("06", "none", *PLANTED))
def test_a_mistake_shows_in_the_parameters(number, mistake):
    [run] = runs_of(number, LESSONS[number].mistakes[mistake].job)
    [away] = [m["value"] for m in run.measures if m["name"] == "difference_to_serial"]
    assert (run.end["param_spread"] > 1e-6) == (mistake in SHOWS_IN_SPREAD)
    assert away < 1e-12 if mistake == "none" else away > 1e-4


@pytest.mark.parametrize(("number", "mistake"), cases("07", "size 1 on every rank"))
def test_ranks_that_never_met_are_told_so(number, mistake):
    titles = {finding["title"] for finding in grade_of(number, mistake)["findings"]}
    assert "Another number of ranks ran than was asked for" in titles


@pytest.mark.parametrize(("number", "mistake"), cases("08", "samples counted as often as read"))
def test_samples_counted_as_often_as_read_are_a_contradiction(number, mistake):
    grade = grade_of(number, mistake)
    assert grade["tier"] == "contradicted", grade["findings"]


@pytest.mark.parametrize(
    ("number", "mistake"), cases("08", "unequal steps hang until the time limit")
)
def test_unequal_steps_that_hang_are_told_so(number, mistake):
    findings = grade_of(number, mistake)["findings"]
    [hung] = [finding for finding in findings if "did not finish" in finding["title"]]
    assert "ranks waited for others that did not come" in hung["found"]
