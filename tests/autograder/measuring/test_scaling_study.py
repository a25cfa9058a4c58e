"""A scaling study as a rubric sees it: sizes, repeats, equal work, and values from a refit."""

import pytest

from autograder.measuring.interval import NotMeasured
from autograder.measuring.metrics import METRICS
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record
from tests.autograder.make_study import lines_of, study

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
    return measured(name, runs, **at).value


def measured(name, runs, **at):
    return METRICS[name].function(runs, at)


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


def test_the_range_is_that_of_the_repeats():
    found = measured("study_efficiency", runs(), size=2)
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
    counted = measured("study_sizes", mixed)
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
        value("study_amdahl_f", given)


def test_weak_scaling_counts_the_work():
    same = runs({1: 8.0, 2: 8.0, 4: 10.0}, scaling="weak")
    assert value("study_efficiency", same, size=2) == pytest.approx(1)
    assert value("study_efficiency", same, size=4) == pytest.approx(0.8)
    assert value("study_sizes", same) == 3
    less = runs({1: 8.0, 2: 8.0, 4: 10.0}, scaling="weak", samples=60000)
    assert value("study_sizes", less) == 1


# --- a study in one launch: sizes are compared within their round ---------------------------------

# The second round was twice as slow for both sizes. Within rounds, the speedup is 1.6 to 1.8.
ROUNDS = [(8.0, 5.0), (16.0, 9.0), (8.2, 4.9)]


def test_sizes_are_compared_within_a_round():
    runs = study("epoch", ROUNDS)
    gain = measured("study_efficiency", runs)
    assert gain.value == pytest.approx(8.2 / 4.9 / 2)
    assert (gain.low, gain.high) == pytest.approx((0.8, 8 / 9), abs=1e-5)
    assert gain.basis == "median of 3 rounds"


@pytest.mark.parametrize("kind", ["strong", "epoch", "weak"])
def test_each_kind_with_its_work_has_all_sizes(kind):
    runs = study(kind, [(8.0, 5.0, 3.0)] * 3, sizes=(1, 2, 4))
    assert value("study_sizes", runs, repeats=3) == 3
    assert value("study_sizes", runs, repeats=4) == 0
    assert value("study_samples", runs, size="smallest") == 512
    assert value("study_samples", runs) == (2048 if kind == "weak" else 512)
    assert value("study_batch", runs) == (64 if kind == "strong" else 256)


WRONG_WORK = {
    "strong": lambda p: (64, 512),
    "epoch": lambda p: (64 // p, 512),
    "weak": lambda p: (64, 512),
}


@pytest.mark.parametrize("kind", WRONG_WORK)
def test_other_work_on_more_ranks_is_another_study(kind):
    runs = study(kind, ROUNDS, work=WRONG_WORK[kind])
    assert value("study_sizes", runs) == 1


def test_what_was_handed_in_twice_counts_once():
    text = "\n".join(lines_of("epoch", ROUNDS)).encode()
    runs = read_bytes({"a.out": text, "copy.out": text})
    assert value("study_sizes", runs, repeats=3) == 2
    assert value("study_sizes", runs, repeats=4) == 0


def test_two_launches_are_one_study_of_more_rounds():
    texts = [lines_of("epoch", ROUNDS, run=run) for run in ("5f0c2a91", "6f0c2a91")]
    runs = read_bytes({f"{n}.out": "\n".join(t).encode() for n, t in enumerate(texts)})
    assert value("study_sizes", runs, repeats=6) == 2
    assert value("study_sizes", runs, repeats=7) == 0


@pytest.mark.parametrize(
    "said",
    [{"value": 0}, {"value": "nan"}, {"ranks": 1.5}, {"local_batch": -1}, {"steps": None},
     {"round": True}, {"samples": "many"}],
)  # fmt: skip
def test_a_damaged_point_is_no_measure(said):
    with pytest.raises(NotMeasured):
        value("study_sizes", study("epoch", ROUNDS, **said))


def test_movement_and_spread_are_those_of_the_worst_round():
    runs = study("epoch", ROUNDS, moved=0.0, spread=0.5)
    assert value("study_moved", runs) == 0
    assert value("study_spread", runs) == 0.5
    with pytest.raises(NotMeasured):
        value("study_spread", study("epoch", ROUNDS, spread="nan"))
