"""Measuring: medians, intervals and ratios that fail closed."""

import math

import pytest
from hypothesis import given, strategies as st

from autograder.measuring import interval, measure
from autograder.measuring.interval import NotMeasured
from autograder.records import Epoch, Number, Run
from tests.autograder.make_run import make_run
from tests.breadth import breadth


def run_of(seconds, half_width=0.0, samples=60000, **facts) -> Run:
    epochs = tuple(
        Epoch(i, seconds=Number(s, half_width), unique_samples=samples)
        for i, s in enumerate(seconds, start=1)
    )
    more = {"workers": facts.pop("workers", 1), "epochs": epochs, "header": facts}
    return make_run(("a.out",), "record", "completed", **more)


@pytest.mark.parametrize(
    ("seconds", "value", "low", "high"),
    [
        ((8, 7, 7, 7), 7, 7, 7),
        ((29, 14, 15), 14.5, 14, 15),
        ((9, 1, 2, 30), 2, 1, 30),
        ((5, 4), 4, 4, 4),
        # Nine later epochs: the interval leaves out one at each end.
        ((9, *range(1, 10)), 5, 2, 8),
    ],
)
def test_epoch_time_is_the_median_after_the_first_epoch(seconds, value, low, high):
    found = measure.epoch_time(run_of(seconds))
    assert (found.value, found.low, found.high) == (value, low, high)


@pytest.mark.parametrize(
    "seconds",
    [(), (7,), (7, 0), (7, -1), (7, 7, math.nan), (7, math.inf), (7, True, -2), (7, 1e308)],
)
def test_impossible_times_are_not_measured(seconds):
    with pytest.raises(NotMeasured):
        measure.epoch_time(run_of(seconds))


def exactly_left_out(count: int) -> int:
    """Return the largest s with 2 · P(X ≤ s) ≤ 1/20, computed in integers."""
    choices, tail, skip = 1, 1, 0
    while 40 * tail <= 2**count:
        choices = choices * (count - skip) // (skip + 1)
        tail += choices
        skip += 1
    return max(0, skip - 1)


@pytest.mark.parametrize(
    "counts", breadth([range(1, 400), range(400, 1100), [2000, 4097, 9999, 20000]])
)
def test_the_interval_of_a_median_is_that_of_the_binomial_however_many_there_are(counts):
    differ = [count for count in counts if interval.left_out(count) != exactly_left_out(count)]
    assert differ == []


def test_whole_seconds_leave_the_interval_of_the_course():
    slow, fast = run_of((29, 14), 0.5), run_of((20, 5), 0.5)
    found = measure.speedup(slow, fast)
    assert found.value == pytest.approx(2.8)
    assert (round(found.low, 2), round(found.high, 2)) == (2.45, 3.22)


def test_throughput_counts_different_samples():
    found = measure.throughput(run_of((60, 42), 0.5, samples=50000))
    assert [round(x) for x in (found.value, found.low, found.high)] == [1190, 1176, 1205]


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"model": "cnn"}, "model"),
        ({"device": "H100"}, "device"),
        ({"precision": "bfloat16"}, "precision"),
        ({"samples": 6400}, "6400"),
    ],
)
def test_no_speedup_of_different_work_or_hardware(facts, word):
    base = run_of((9, 8), model="mlp512", device="A100", precision="float32")
    other = {"model": "mlp512", "device": "A100", "precision": "float32"} | facts
    with pytest.raises(NotMeasured, match=f"not the same work on the same hardware: .*{word}"):
        measure.speedup(base, run_of((9, 4), workers=2, **other))


def test_a_baseline_that_cannot_be_measured_is_named_as_such():
    with pytest.raises(NotMeasured, match=r"^baseline: ") as missing:
        measure.speedup(run_of((9,)), run_of((9, 4), workers=2))
    assert missing.value.try_ == "train at least 3 epochs"


def test_efficiency():
    base, fast = run_of((9, 8)), run_of((9, 2.5), workers=4)
    gain, share = measure.speedup(base, fast), measure.efficiency(base, fast)
    assert gain.value == pytest.approx(3.2)
    assert share.value == pytest.approx(0.8)


def test_time_to_accuracy_has_to_hold_it():
    accuracies = (0.5, 0.9, 0.8, 0.91, 0.92)
    epochs = tuple(
        Epoch(i, seconds=Number(2.0), val_accuracy=Number(a)) for i, a in enumerate(accuracies, 1)
    )
    run = Run(("a.out",), "record", "completed", epochs=epochs)
    found = measure.time_to_accuracy(run, 0.9)
    assert found.value == 8
    with pytest.raises(NotMeasured, match=r"did not reach 0\.95"):
        measure.time_to_accuracy(run, 0.95)


times = st.floats(0.01, 1e4)
half = st.sampled_from([0.0, 0.005, 0.5])


@given(st.lists(times, min_size=2, max_size=40), st.lists(times, min_size=2, max_size=40), half)
def test_the_value_lies_in_its_interval(slow, fast, width):
    found = interval.measured_or_none(measure.speedup, run_of(slow, width), run_of(fast, width))
    if found:
        assert 0 < found.low <= found.value * (1 + 1e-12)
        assert found.value <= found.high * (1 + 1e-12)


@pytest.mark.parametrize(
    ("replicas", "workers"), [(4, 8), (1, 2), (None, 2), (0, None), (True, 2), ("4", 2)]
)
def test_replicas_of_a_process_count_as_workers(replicas, workers):
    run = make_run((), "record", "completed", workers=2, header={"replicas": replicas})
    assert measure.workers(run) == workers
