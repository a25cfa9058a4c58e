"""A sweep's largest useful number of workers, and the answers compared with it."""

import dataclasses

import pytest

from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.reading.files import read_bytes
from autograder.records import Number, Where
from autograder.settings import rubric
from autograder.submissions.answers import WrittenAnswer
from tests.autograder.make_record import make_record
from tests.autograder.make_run import make_header

# N and rule -> the accuracies of the seeds.
SWEEP = {
    (1, "same"): (0.940, 0.942),
    (8, "same"): (0.900, 0.902),
    (8, "linear"): (0.936, 0.937),
    (16, "linear"): (0.90, 0.96),  # one lucky seed
    (64, "linear"): (0.10, 0.10),
}


def sweep(table=SWEEP, began=10, first="a"):
    files = {}
    for (workers, rule), accuracies in table.items():
        for seed, accuracy in enumerate(accuracies):
            lines = make_record(
                lesson="09",
                source="sweep",
                run=f"{first}{workers:03d}{len(rule)}{seed:03d}",
                test_accuracy=accuracy,
                workers=workers,
                rule=rule,
                seed=seed,
                started=f"2026-03-02T{began}:00:{seed:02d}+00:00",
            )
            files[f"{first}_{workers}_{rule}_{seed}.out"] = "\n".join(lines).encode()
    return read_bytes(files)


def with_facts(run, facts):
    written = {
        name: run.header.get(name) for name in ("lesson", "source", "workers", "rule", "seed")
    }
    return dataclasses.replace(run, header=make_header(written | facts))


@pytest.mark.parametrize(
    ("within", "largest"), [(0.0, 1), (0.004, 1), (0.005, 8), (0.01, 8), (0.02, 16), (0.9, 64)]
)
def test_the_best_rule_s_mean_over_the_seeds_decides(within, largest):
    found = METRICS["useful_workers"].function(sweep(), {"within": within})
    assert (found.value, found.low, found.high, found.unit) == (
        largest,
        largest,
        largest,
        "workers",
    )
    assert "0.9365 for 8" in found.basis


def test_of_a_setting_that_was_run_again_the_latest_counts():
    again = {(8, "linear"): (0.90, 0.90)}
    runs = [*sweep(), *sweep(again, began=11, first="b")]
    assert METRICS["useful_workers"].function(runs, {"within": 0.01}).value == 1


def test_without_one_worker_there_is_nothing_to_compare_with():
    runs = sweep({key: value for key, value in SWEEP.items() if key[0] > 1})
    with pytest.raises(NotMeasured, match="one worker"):
        METRICS["useful_workers"].function(runs, {"within": 0.01})


@pytest.mark.parametrize(
    ("answer", "credit", "words"),
    [("8", 1.0, ""), ("16", 0.0, "useful_64: 8 workers"), ("many", 0.0, "digits only")],
)
def test_the_lesson_s_answer_is_compared_with_the_student_s_own_sweep(answer, credit, words):
    loaded = rubric.load_rubric(rubric.FOLDER / "09.yaml")
    plain = {"optimizer": "sgd", "decay": "none", "warmup": 0.0, "momentum": 0.0}
    runs = [with_facts(run, plain) for run in sweep()]
    written = {"useful_64": WrittenAnswer(answer, Where("answers.txt", 1))}
    judged = judge.judge(HandIn(loaded, runs, written, "answers.txt", "smoke"))
    [answers] = [check for check in judged.checks if check.id == "useful"]
    [part] = [part for part in answers.parts if part.expected.startswith("useful_64")]
    assert part.credit == credit
    assert words in f"{part.expected}; {part.try_}"


# N -> the accuracies of the seeds after each epoch.
PATHS = {
    1: ([0.91, 0.94, 0.95], [0.90, 0.92, 0.929, 0.93]),
    16: ([0.80, 0.85, 0.89, 0.91, 0.92, 0.93], [0.80, 0.85, 0.88, 0.90, 0.91, 0.92, 0.925, 0.93]),
    64: ([0.70, 0.80, 0.85], [0.70, 0.81, 0.86]),  # until it was stopped
}


def until_a_loss(paths=PATHS, began=10, first="a"):
    found = []
    for workers, seeds in paths.items():
        for seed, accuracies in enumerate(seeds):
            lines = make_record(
                lesson="09",
                source="gap",
                run=f"{first}{workers:03d}{seed:04d}",
                seconds=(1.0,) * len(accuracies),
                workers=workers,
                rule="sqrt",
                seed=seed,
                started=f"2026-03-02T{began}:00:{seed:02d}+00:00",
            )
            [run] = read_bytes({f"{first}_{workers}_{seed}.out": "\n".join(lines).encode()})
            epochs = [
                dataclasses.replace(epoch, val_accuracy=Number(accuracy, Where("x", 1)))
                for epoch, accuracy in zip(run.epochs, accuracies, strict=True)
            ]
            found.append(dataclasses.replace(run, epochs=epochs))
    return found


@pytest.mark.parametrize(
    ("target", "gain"),
    [(0.93, (16 * 3 / 6 + 16 * 3 / 8) / 2), (0.90, (16 * 1 / 4 + 16 * 1 / 4) / 2)],
)
def test_how_much_sooner_is_the_mean_over_the_seeds(target, gain):
    found = METRICS["sooner"].function(until_a_loss(), {"accuracy": target, "workers": 16})
    assert found.value == pytest.approx(gain)


def test_of_a_race_that_was_run_again_the_latest_counts():
    again = {16: (PATHS[16][0], [0.5, 0.6, 0.94])}
    runs = [*until_a_loss(), *until_a_loss(again, began=11, first="b")]
    found = METRICS["sooner"].function(runs, {"accuracy": 0.93, "workers": 16})
    assert found.value == pytest.approx((16 * 3 / 6 + 16 * 3 / 3) / 2)


def test_who_does_not_arrive_has_won_no_race():
    with pytest.raises(NotMeasured, match="no finished run of 64 workers reached"):
        METRICS["sooner"].function(until_a_loss(), {"accuracy": 0.93, "workers": 64})


@pytest.mark.parametrize(
    ("answer", "credit", "words"),
    [("7", 1.0, ""), ("16", 0.0, "the epochs of one"), ("", 0.0, "")],
)
def test_the_race_is_graded_by_the_student_s_own_runs(answer, credit, words):
    loaded = rubric.load_rubric(rubric.FOLDER / "09.yaml")
    plain = {"decay": "none", "warmup": 0.0, "momentum": 0.0}
    runs = [with_facts(run, plain) for run in until_a_loss()]
    written = {"race_93": WrittenAnswer(answer, Where("answers.txt", 1))} if answer else {}
    judged = judge.judge(HandIn(loaded, runs, written, "answers.txt", "smoke"))
    [useful] = [check for check in judged.checks if check.id == "useful"]
    assert useful.points == 1
    [part] = [part for part in useful.parts if part.expected.startswith("race_93")]
    assert part.credit == credit
    assert words in f"{part.expected}; {part.try_}"
