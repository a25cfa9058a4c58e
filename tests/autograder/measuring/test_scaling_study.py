"""A scaling study as a rubric sees it: sizes, repeats, equal work, and values from a refit."""

import pytest

from autograder.errors import SettingsError
from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.reading.files import read_bytes
from autograder.records import Where
from autograder.settings import rubric
from autograder.submissions.answers import WrittenAnswer
from tests.autograder.make_record import make_record

TIMES = {1: 8.0, 2: 4.4, 4: 2.5}


def runs(times=TIMES, repeats=3, **facts):
    """Return a study in which each repeat is 1 % slower than the one before."""
    files = {}
    for size, seconds in times.items():
        for number in range(repeats):
            one = round(seconds * (1 + 0.01 * number), 6)
            usual = {"source": "keras-horovod", "scaling": "epoch", "total": 10 + 8 * one}
            if facts.get("scaling") == "weak":  # every worker has as many samples
                usual["samples"] = 60000 * size
            lines = make_record(
                lesson="12",
                run=f"{size:02d}{number:02d}beef",
                size=size,
                seconds=(2 * one, one, one),
                job_id=str(100 * size + number),
                started=f"2026-03-02T10:{number:02d}:00+00:00",
                **usual | facts,
            )
            files[f"s{size}_{number}.out"] = "\n".join(lines).encode()
    return read_bytes(files)


def value(name, runs, **at):
    return METRICS[name].function(runs, at).value


SPEEDUP = {size: 8.0 / seconds for size, seconds in TIMES.items()}


@pytest.mark.parametrize(
    ("metric", "at", "right"),
    [
        ("study_sizes", {}, 3),
        ("study_sizes", {"repeats": 3}, 3),
        ("study_sizes", {"repeats": 4}, 0),
        ("study_efficiency", {"size": "largest"}, SPEEDUP[4] / 4),
        ("study_amdahl_f", {}, (0.1 * 1 + 0.25 * 3) / 10),
    ],
)
def test_values(metric, at, right):
    assert value(metric, runs(), **at) == pytest.approx(right)


def test_time_to_accuracy():
    epochs = "".join(
        f"Epoch {n}/4\n9/9 - 2s - loss: 0.5 - accuracy: 0.9 - val_loss: 0.4 - val_accuracy: {v}\n"
        for n, v in enumerate((0.8, 0.91, 0.93, 0.92), start=1)
    )
    (run,) = read_bytes({"job.out": epochs.encode()})
    assert METRICS["time_to_accuracy"].function(run, {"accuracy": 0.9}).value == 4
    with pytest.raises(NotMeasured):
        METRICS["time_to_accuracy"].function(run, {"accuracy": 0.95})


def test_the_range_is_that_of_the_repeats():
    found = METRICS["study_efficiency"].function(runs(), {"size": 2})
    assert found.low == pytest.approx(SPEEDUP[2] / 1.02 / 2)
    assert found.high == pytest.approx(SPEEDUP[2] * 1.02 / 2)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"device": "GPU of another kind"}, "device is"),
        ({"model": "cnn"}, "model is"),
        ({"samples": 6400, "train_samples": 6400}, "different samples per epoch"),
    ],
)
def test_other_work_is_no_further_size(other, words):
    mixed = [*runs({1: 8.0, 2: 4.4}), *runs({4: 2.5}, **other)]
    counted = METRICS["study_sizes"].function(mixed, {})
    assert counted.value == 2
    assert words in counted.basis


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (runs({1: 8.0}), "sizes with more than one worker: at least 1, but there are 0"),
        (runs({2: 4.4, 4: 2.5}), "needs a run on one worker"),
        ([*runs({1: 8.0}), *runs({2: 4.4}, scaling="strong"), *runs({4: 2.5})], "studies"),
        ([], "no run reports"),
    ],
)
def test_what_cannot_be_fitted_says_why(given, words):
    with pytest.raises(NotMeasured, match=words):
        METRICS["study_amdahl_f"].function(given, {})


def test_weak_scaling_counts_the_work():
    same = runs({1: 8.0, 2: 8.0, 4: 10.0}, scaling="weak")
    assert value("study_efficiency", same, size=2) == pytest.approx(1)
    assert value("study_efficiency", same, size=4) == pytest.approx(0.8)
    assert value("study_sizes", same) == 3
    less = runs({1: 8.0, 2: 8.0, 4: 10.0}, scaling="weak", samples=60000)
    assert value("study_sizes", less) == 1


RUBRIC = """
lesson: "12"
title: The scaling study
points: 10
runs:
  study: {where: {source: keras-horovod}}
checks:
  - id: study
    title: Three sizes, three times each, the same work
    points: 4
    require: [{metric: study_sizes, of: study, at: {repeats: 3}, at_least: {smoke: 2, full: 3}}]
  - id: efficiency
    title: Efficiency on the largest size
    points: 2
    require:
      - {metric: study_efficiency, of: study, at: {size: largest}, at_least: 0.8, half_from: 0.6}
  - id: fits
    title: The fits are those of your own records
    points: 4
    answers: [f, high_1024]
answers:
  f: {ask: f, kind: number, metric: study_amdahl_f, of: study, tolerance: 5%}
  high_1024: {ask: S, kind: number, metric: study_speedup_high, of: study, at: {workers: 1024},
              tolerance: 5%}
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    path = tmp_path_factory.mktemp("rubric") / "12.yaml"
    path.write_text(RUBRIC)
    return rubric.load_rubric(path)


@pytest.mark.parametrize(
    ("repeats", "answers", "scores"),
    [
        (3, {"f": "0.0925", "high_1024": "740"}, (4, 2, 4)),
        (3, {"f": "0.0925", "high_1024": "890"}, (4, 2, 2)),
        (2, {"f": "0.5"}, (0, 2, 0)),
    ],
)
def test_a_rubric_of_a_study(asked, repeats, answers, scores):
    given = {key: WrittenAnswer(text, Where("answers.txt", 1)) for key, text in answers.items()}
    times = TIMES | {4: 2.55}
    checks = judge.judge(HandIn(asked, runs(times, repeats), given, "answers.txt", "full")).checks
    assert tuple(check.score for check in checks) == pytest.approx(scores, abs=0.1)
    if repeats == 2:
        assert "runs: 2 on 1, 2 on 2, 2 on 4" in checks[0].found


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("at: {repeat: 3}", "study_sizes has no 'repeat'"),
        ("at: {repeats: 3}, base: study", "has no base"),
        ("at: {size: 2, accuracy: 1}", "study_sizes has no 'accuracy'"),
    ],
)
def test_slips_in_a_rubric_are_named(tmp_path, wrong, words):
    path = tmp_path / "12.yaml"
    path.write_text(RUBRIC.replace("at: {repeats: 3}", wrong, 1))
    with pytest.raises(SettingsError, match=words):
        rubric.load_rubric(path)
