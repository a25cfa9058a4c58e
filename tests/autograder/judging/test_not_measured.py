"""Tests that a value that cannot be measured becomes a part that says so, without an exception."""

import pytest

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.measuring.interval import exact
from autograder.records import Run, Where
from autograder.settings.rubric_schema import Rubric
from autograder.submissions.answers import WrittenAnswer
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.make_run import make_run

TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no\n'
SAYS_LITTLE = {"lesson": "02", "source": "keras"}  # a run that the rubric selects, without values


EPOCHS = {"metric": "epochs", "of": "run", "at_least": 1.0}


def rubric_of(*conditions: dict, answers: dict | None = None) -> Rubric:
    checks = [
        {"id": f"c{number}", "title": "A check", "points": 1.0, "require": [condition]}
        for number, condition in enumerate(conditions)
    ]
    if answers:
        checks.append({"id": "a", "title": "Answers", "points": 1.0, "answers": list(answers)})
    return Rubric.model_validate(
        {
            "lesson": "02",
            "title": "A lesson",
            "points": float(len(checks)),
            "runs": {
                "run": {"where": {"source": "keras"}},
                "base": {"where": {"source": "keras"}, "smallest": "ranks"},
                "probe": {"where": {"source": "probe"}},
                "nobody": {"where": {"source": "nobody"}},
            },
            "checks": checks,
            "answers": answers or {},
        }
    )


def judged(rubric: Rubric, *runs: Run, **facts):
    return judge(HandIn(rubric, runs, {}, "full", **facts)).checks


def empty() -> Run:
    return make_run(
        files=("a.out",), format="record", outcome="completed", header=dict(SAYS_LITTLE)
    )


def told() -> Run:
    (run,) = read_bytes({"a.out": "\n".join(make_record()).encode()})
    return run


OWN_FORMAT = "pass 1: 0.91 of all images are right\n"  # which no reader knows
KERAS = "Epoch 1/1\n5/5 - 1s - loss: 0.5\nI am done\n"  # which this rubric does not accept


@pytest.mark.parametrize("text", [OWN_FORMAT, KERAS])
def test_an_output_that_fits_no_run_of_the_rubric_is_not_measured(text):
    question = {"ask": "?", "kind": "number", "metric": "epochs", "of": "run"}
    rubric = rubric_of(EPOCHS, answers={"q": question})
    runs, answers = read_bytes({"a.out": text.encode()}), {"q": WrittenAnswer("7", Where("a", 1))}
    for check in judge(HandIn(rubric, runs, answers, "full")).checks:
        assert (check.score, check.status) == (0, "not measured")
        assert check.where == (Where("a.out", 1),)
    failed = read_bytes({"a.out": (OWN_FORMAT + TRACEBACK).encode()})
    assert [check.status for check in judged(rubric_of(EPOCHS), *failed)] == ["failed"]


# The condition, its status, the expectation as the student reads it, and the reason's code.
REASONS = [
    # The value's reason precedes the threshold's, which is then given in words.
    ({"metric": "throughput", "of": "run", "at_least": {"of_reference": 0.8}}, "not measured",
     "samples per second: ≥ 0.8 of what the solution reaches on this site (run `run`)",
     ReasonCode.NOT_MEASURED),
    ({"metric": "throughput", "of": "nobody", "at_least": {"of_reference": 0.8}}, "failed",
     "samples per second: ≥ 0.8 of what the solution reaches on this site (run `nobody`)",
     ReasonCode.NO_RUN),
    ({"metric": "epochs", "of": "run", "at_least": {"of_reference": 0.8}}, "not measured",
     "finished epochs: ≥ 0.8 of what the solution reaches on this site (run `run`)",
     ReasonCode.NOT_CALIBRATED),
    ({"metric": "epochs", "of": "run", "equal": {"metric": "steps_expected", "factor": 2}},
     "not measured", "finished epochs: samples / batch size (run `run`)",
     ReasonCode.NOT_MEASURED),
    ({"metric": "epochs", "of": "run", "equal": {"metric": "lr", "of": "nobody", "plus": -1}},
     "failed", "finished epochs: learning rate (run `run`)", ReasonCode.NO_RUN),
    ({"metric": "epochs", "of": "run", "over": "nobody", "above": 1}, "failed",
     "finished epochs / that of `nobody`: > 1 (run `run`)", ReasonCode.NO_RUN),
    ({"metric": "speedup", "of": "run", "base": "nobody", "above": 1}, "failed",
     "speedup over `nobody`: > 1 (run `run`)", ReasonCode.NO_RUN),
    # A value that cannot be measured is not a zero that earns part of the points.
    ({"metric": "epochs", "of": "run", "at_least": 1, "half_from": {"metric": "lr"}}, "failed",
     "finished epochs: ≥ 1 epoch (run `run`)", ReasonCode.VALUE),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "status", "expected", "code"), REASONS)
def test_which_reason_is_told(condition, status, expected, code):
    (check,) = judged(rubric_of(condition), empty())
    assert (check.status, check.expected) == (status, expected)
    assert [part.code for part in check.parts] == [code]


def test_a_reference_is_a_line_that_may_be_moved():
    wide = {"epochs of run": exact(10)}
    for plus, status in ((0, "failed"), (-5, "passed")):
        condition = {"metric": "epochs", "of": "run", "at_least": {"of_reference": 0.8}}
        condition["at_least"] |= {"plus": float(plus)}
        (check,) = judged(rubric_of(condition), told(), references=wide)
        assert check.status == status


def test_of_several_runs_those_not_measured_are_told():
    """No run satisfies the condition, but the run without values could have."""
    condition = {"metric": "epoch_s", "of": ["run", "nobody"], "at_most": 2.0, "take": "best"}
    (check,) = judged(rubric_of(condition), empty())
    assert check.status == "not measured"
    assert ReasonCode.NOT_MEASURED in [part.code for part in check.parts]


def test_a_failed_test_is_told_though_another_run_has_no_such_measure():
    condition = {"metric": "measure:step_error", "at_most": 1e-6, "take": "best"}
    wrong = make_record(
        source="probe", measures=({"name": "step_error", "value": 0.2, "unit": ""},)
    )
    runs = read_bytes({"a.out": "\n".join(make_record(measures=()) + wrong).encode()})
    rubric = rubric_of(condition | {"of": ["run", "probe"]})
    (check,) = judged(rubric, *runs)
    assert check.status == "failed"
    assert [part.code for part in check.parts] == [ReasonCode.VALUE]
