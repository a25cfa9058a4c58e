"""Tests that the grader names each planted mistake, from real outputs that are kept."""

from importlib import import_module

import pytest

from autograder.codes import FindingCode
from lessons.toolkit.checks.shared.check import CheckFailed
from tests.breadth import breadth
from tests.lessons.planted import kept
from tests.lessons.planted.job_files import JOB_FILES
from tests.lessons.planted.judged import cases, grade_of, graded, reasons, unexpected
from tests.lessons.planted.plants import LESSONS, gap_named, gaps_of, patched


@pytest.mark.parametrize("number", LESSONS)
def test_every_kept_output_comes_from_the_present_program_and_change(number):
    """After a failure, run: .venv/bin/python -m tests.lessons.planted --stale"""
    assert kept.stale(LESSONS[number]) == []


@pytest.mark.parametrize("number", LESSONS)
def test_every_gap_has_a_plant_that_loses_points_or_fails_its_check(number):
    source, plants = LESSONS[number].source, LESSONS[number].plants
    places = [place for plant in plants.values() for place in plant.patch if " " in place]
    places += JOB_FILES.get(number, {})
    assert {gap_named(source, place) for place in places} == set(gaps_of(source))
    assert all(plant.loses for name, plant in plants.items() if name.startswith("lazy"))


SLOW = {"15.6": pytest.mark.slow}  # it calls pkill, which not every machine has


@pytest.mark.parametrize(
    ("lesson", "gap", "code"),
    [pytest.param(lesson, gap, code, marks=SLOW.get(gap.split()[1], ()))
     for lesson, table in JOB_FILES.items() for gap in table for code in table[gap]],
)  # fmt: skip
def test_the_check_of_a_job_file_refuses_a_lazy_answer(lesson, gap, code, tmp_path):
    [(name, text)] = patched(LESSONS[lesson].source, {gap: code}).items()
    job = tmp_path / name
    job.write_text(text, encoding="utf-8")
    number = gap.split()[1].rstrip(":").replace(".", "_")
    checks = import_module(f"lessons.toolkit.checks.lesson_{lesson}")
    with pytest.raises(CheckFailed) as failed:
        getattr(checks, f"check_{number}")(str(job))
    assert JOB_FILES[lesson][gap][code] in str(failed.value)


def test_the_kept_outputs_stay_small():
    assert sum(file.stat().st_size for file in kept.KEPT.rglob("*.txt")) < 6_000_000


@pytest.mark.parametrize(
    ("number", "mistake"), [each for n in LESSONS for each in breadth(cases(n), quick=2)]
)
def test_the_grader_names_what_a_mistake_broke(number, mistake):
    assert unexpected(number, mistake) == {}


def check_of(grade, name):
    [found] = [check for check in grade["checks"] if check["id"] == name]
    return found


def test_a_network_of_1000_classes_is_told_by_its_size():
    assert "25,613,800" in check_of(grade_of("03", "1000 classes"), "network")["actual"]


@pytest.mark.parametrize("job", ["own task", "own task on few"])
def test_the_own_task_is_asked_at_the_baselines_size(job):
    output = kept.output(LESSONS["03"], job)["out"]
    own = check_of(graded("03", {"03_baseline_1.out": output}), "resnet152")
    told = {"own task on few": ["different samples read per epoch: 256 samples (run `resnet152`)"]}
    parameters = "parameters of the network: 58,352,138 (run `resnet152`)"
    assert own["expected"].split("; ") == [parameters, *told.get(job, [])]


def test_the_grader_names_a_missing_source_too():
    lesson = LESSONS["04"]
    files = lesson.files_of("no prefetch")
    texts = {name: kept.output(lesson, job)["out"] for name, job in files.items()}
    lines = texts["04_feeding_1.out"].splitlines(keepends=True)
    header = next(line for line in lines if '"source":"memory"' in line)
    memory = header.partition('"run":')[2][:10]
    texts["04_feeding_1.out"] = "".join(line for line in lines if memory not in line)
    lost = reasons(graded("04", texts)).keys() - lesson.never
    assert lost == {"overlap", "whole-set", "sources"}


def test_a_network_built_outside_the_scope_ends_the_job():
    errors = kept.output(LESSONS["05"], "a network built outside the scope")["err"]
    assert "not created in the distribution strategy scope" in errors


def test_ranks_that_never_met_are_told_so():
    codes = {finding["code"] for finding in grade_of("07", "size 1 on every rank")["findings"]}
    assert FindingCode.OTHER_RANK_COUNT in codes


def test_unequal_steps_that_hang_are_told_so():
    checks = grade_of("08", "unequal steps hang until the time limit")["checks"]
    [hung] = [check for check in checks if check["id"] == "equal-steps"]
    assert "did not finish: stalled (ranks waited for others" in hung["actual"]
