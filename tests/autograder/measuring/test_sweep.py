"""A sweep's largest useful number of workers, and how much sooner several workers arrive."""

import pytest

from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from autograder.records import Epoch, Number
from tests.autograder.make_run import make_run

# N and rule -> the accuracies of the seeds.
SWEEP = {
    (1, "same"): (0.940, 0.942),
    (8, "same"): (0.900, 0.902),
    (8, "linear"): (0.936, 0.937),
    (16, "linear"): (0.90, 0.96),  # one lucky seed
    (64, "linear"): (0.10, 0.10),
}


def run_of(workers, header, **more):
    header = header | {"workers": workers}
    return make_run((f"{workers}.out",), "record", "completed", header=header, **more)


def sweep(table=SWEEP):
    return [
        run_of(workers, {"rule": rule, "seed": seed}, test_accuracy=Number(accuracy))
        for (workers, rule), accuracies in table.items()
        for seed, accuracy in enumerate(accuracies)
    ]


@pytest.mark.parametrize(
    ("within", "largest"), [(0.0, 1), (0.004, 1), (0.005, 8), (0.01, 8), (0.02, 16), (0.9, 64)]
)
def test_the_best_rule_s_mean_over_the_seeds_decides(within, largest):
    found = METRICS["useful_workers"].function(sweep(), {"within": within})
    assert (found.value, found.low, found.high, found.unit) == (*[largest] * 3, "workers")
    assert "0.9365 for 8" in found.basis


def test_of_a_setting_that_was_run_again_the_latest_counts():
    runs = [*sweep(), *sweep({(8, "linear"): (0.90, 0.90)})]
    assert METRICS["useful_workers"].function(runs, {"within": 0.01}).value == 1


def test_without_one_worker_there_is_nothing_to_compare_with():
    runs = sweep({key: value for key, value in SWEEP.items() if key[0] > 1})
    with pytest.raises(NotMeasured, match="one worker"):
        METRICS["useful_workers"].function(runs, {"within": 0.01})


# N -> the accuracies of the seeds after each epoch.
PATHS = {
    1: ([0.91, 0.94, 0.95], [0.90, 0.92, 0.929, 0.93]),
    16: ([0.80, 0.85, 0.89, 0.91, 0.92, 0.93], [0.80, 0.85, 0.88, 0.90, 0.91, 0.92, 0.925, 0.93]),
    64: ([0.70, 0.80, 0.85], [0.70, 0.81, 0.86]),  # until it was stopped
}


def race(paths=PATHS):
    return [
        run_of(
            workers,
            {"seed": seed},
            epochs=[Epoch(n, val_accuracy=Number(a)) for n, a in enumerate(accuracies, start=1)],
        )
        for workers, seeds in paths.items()
        for seed, accuracies in enumerate(seeds)
    ]


@pytest.mark.parametrize(
    ("target", "gain"),
    [(0.93, (16 * 3 / 6 + 16 * 3 / 8) / 2), (0.90, (16 * 1 / 4 + 16 * 1 / 4) / 2)],
)
def test_how_much_sooner_is_the_mean_over_the_seeds(target, gain):
    found = METRICS["sooner"].function(race(), {"accuracy": target, "workers": 16})
    assert found.value == pytest.approx(gain)


def test_of_a_race_that_was_run_again_the_latest_counts():
    runs = [*race(), *race({16: (PATHS[16][0], [0.5, 0.6, 0.94])})]
    found = METRICS["sooner"].function(runs, {"accuracy": 0.93, "workers": 16})
    assert found.value == pytest.approx((16 * 3 / 6 + 16 * 3 / 3) / 2)


def test_a_race_without_an_arrival_is_not_measured():
    with pytest.raises(NotMeasured, match="no finished run of 64 workers reached"):
        METRICS["sooner"].function(race(), {"accuracy": 0.93, "workers": 64})
