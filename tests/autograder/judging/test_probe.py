"""A probe's measures: of the same program as the training, and failed if their test failed."""

from dataclasses import replace

import pytest

from autograder.codes import CheckStatus, ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.records import Program, Where
from autograder.settings.rubric_schema import Rubric
from tests.autograder.make_run import make_run

RUBRIC = Rubric.model_validate(
    {
        "lesson": "10",
        "title": "A lesson",
        "points": 1.0,
        "runs": {
            "ddp": {"where": {"source": "ddp"}},
            "probe": {"where": {"source": "probe"}, "program_of": "ddp"},
        },
        "checks": [
            {
                "id": "equal",
                "title": "One network",
                "points": 1.0,
                "require": [{"metric": "measure:error", "of": "probe", "at_most": 1e-6}],
            }
        ],
    }
)
TEXTS = {"train.py": "a" * 16, "ranks.py": "b" * 16}


def run_of(source, started, texts, value=None, failed=None):
    measure = {"name": "error", "value": value, "unit": "", "failed": failed}
    return make_run(
        files=(f"{started}.out",),
        format="record",
        outcome="completed",
        header={"lesson": "10", "source": source, "started": started},
        program=Program("train.py", None, texts),
        measures=[{k: v for k, v in measure.items() if k != "failed" or v}],
        places={"header": Where(f"{started}.out", 1)},
    )


def part_of(*runs, rubric=RUBRIC):
    [check] = judge(HandIn(rubric, runs, {}, "smoke")).checks
    [part] = check.parts
    return check.score, part


def test_a_probe_of_the_same_program_counts_even_if_a_later_one_differs():
    train = run_of("ddp", "1", TEXTS)
    right = run_of("probe", "2", {**TEXTS, "probe.py": "c" * 16}, 1e-9)
    later = run_of("probe", "3", {**TEXTS, "train.py": OTHER}, 1.0)
    score, part = part_of(train, right, later)
    assert (score, part.status) == (1, CheckStatus.PASSED)


OTHER = "d" * 16


@pytest.mark.parametrize(
    "probed", [{**TEXTS, "train.py": OTHER}, {**TEXTS, "ranks.py": OTHER}, {"ranks.py": "b" * 16}]
)
def test_a_probe_of_another_program_does_not_count(probed):
    score, part = part_of(run_of("ddp", "1", TEXTS), run_of("probe", "2", probed, 1e-9))
    assert (score, part.status, part.code) == (0, CheckStatus.FAILED, ReasonCode.NO_RUN)
    assert "train.py" in part.actual or "ranks.py" in part.actual


@pytest.mark.parametrize("trained", [{"plots.py": "e" * 16}, {"plots.py": None}])
def test_a_module_that_only_the_training_imports_is_not_compared(trained):
    train = run_of("ddp", "1", TEXTS | trained)
    assert part_of(train, run_of("probe", "2", TEXTS, 1e-9))[0] == 1


@pytest.mark.parametrize("file", TEXTS)
@pytest.mark.parametrize("changed", ["ddp", "probe"])
@pytest.mark.parametrize("later", [[], [run_of("probe", "3", {"train.py": "d" * 16}, 1e-9)]])
def test_a_person_looks_if_a_program_changed_while_it_ran(file, changed, later):
    texts = {"ddp": TEXTS, "probe": TEXTS, changed: {**TEXTS, file: None}}
    train, probe = run_of("ddp", "1", texts["ddp"]), run_of("probe", "2", texts["probe"], 1e-9)
    score, part = part_of(train, probe, *later)
    assert (score, part.status) == (0, CheckStatus.NOT_MEASURED)
    assert part.code == ReasonCode.RUN_UNCLEAR
    assert file in part.actual
    assert "no run" not in part.actual


def test_without_a_training_the_probe_still_counts():
    assert part_of(run_of("probe", "2", TEXTS, 1e-9))[0] == 1


def test_a_failed_test_is_failed_and_not_unmeasured():
    probe = run_of("probe", "2", TEXTS, failed="rank 0: NotImplementedError: Exercise 10.1")
    score, part = part_of(run_of("ddp", "1", TEXTS), probe)
    assert (score, part.status, part.code) == (0, CheckStatus.FAILED, ReasonCode.TEST_FAILED)
    assert "Exercise 10.1" in part.actual


def test_a_training_that_records_no_program_is_not_compared():
    train, probe = run_of("ddp", "1", TEXTS), run_of("probe", "2", TEXTS, 1e-9)
    for pair in ((replace(train, program=None), probe), (train, replace(probe, program=None))):
        score, part = part_of(*pair)
        assert (score, part.status) == (0, CheckStatus.NOT_MEASURED)
        assert part.code == ReasonCode.RUN_UNCLEAR


NODES = {"nodes.py": "e" * 16, "train.py": "a" * 16}


def rubric_with(**more):
    rubric = RUBRIC.model_dump(exclude_unset=True)
    rubric["runs"]["probe"] |= more
    return Rubric.model_validate(rubric)


@pytest.mark.parametrize(
    ("files", "trained", "probed", "score"),
    [
        (["train.py"], NODES, TEXTS, 1),
        (["train.py"], NODES | {"train.py": OTHER}, TEXTS, 0),
        (["train.py"], {"nodes.py": "e" * 16}, TEXTS, 0),
        (["absent.py"], NODES, TEXTS, 0),
        ([], NODES, TEXTS, 0),
    ],
)
def test_the_rubric_names_the_files_that_both_must_have(files, trained, probed, score):
    train = run_of("ddp", "1", trained)
    train = replace(train, program=replace(train.program, main="nodes.py"))
    probe = run_of("probe", "2", probed, 1e-9)
    assert part_of(train, probe, rubric=rubric_with(program_files=files))[0] == score


@pytest.mark.parametrize(("batch", "score"), [(8, 1), (1, 0), (None, 0)])
def test_a_probe_with_other_options_does_not_count(batch, score):
    train, probe = (
        replace(run, header=replace(run.header, local_batch=size))
        for run, size in (
            (run_of("ddp", "1", TEXTS), 8),
            (run_of("probe", "2", TEXTS, 1e-9), batch),
        )
    )
    found, part = part_of(train, probe, rubric=rubric_with(same_facts=["local_batch"]))
    assert found == score
    assert score or (part.status, part.code) == (CheckStatus.FAILED, ReasonCode.NO_RUN)
