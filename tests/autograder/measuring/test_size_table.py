"""Runs of several sizes, compared by epoch times, total training times, or samples per second."""

import pytest

from autograder.measuring.size_table import comparable, plain, rows, text
from autograder.records import Epoch, Number, Run


def run(size: int, *, epochs: int = 3, outcome: str = "completed", **told: Number) -> Run:
    trained = tuple(Epoch(number) for number in range(1, epochs + 1))
    return Run((f"out_{size}",), "plain", outcome, workers=size, epochs=trained, **told)


def gains(*runs: Run) -> list[float]:
    return [row.speedup.value for row in rows(comparable(runs))]


def test_the_whole_training_counts_where_epochs_tell_no_times():
    one, two = (run(n, total_seconds=Number(s, 0.5)) for n, s in ((1, 100), (2, 60)))
    known = comparable([two, one])
    assert known.of.head == "s in all"
    (_, second) = rows(known)
    assert (second.speedup.value, second.efficiency.value) == pytest.approx((5 / 3, 5 / 6))
    assert second.speedup.low == pytest.approx(99.5 / 60.5)


def test_other_numbers_of_epochs_are_other_work():
    runs = [run(n, epochs=2 + n, total_seconds=Number(9.0 / n)) for n in (1, 2)]
    known = comparable(runs)
    assert rows(known) == []
    assert text(known).count("no epoch times") == 2


def test_rates_are_compared_the_other_way_round():
    runs = [run(n, epochs=0, throughput=Number(100.0 * n, 5)) for n in (1, 2, 4)]
    known = comparable(runs)
    assert gains(*runs) == [1, 2, 4]
    assert rows(known)[2].speedup.low == pytest.approx(395 / 105)
    assert "samples/s" in text(known).splitlines()[0]
    assert [row["rate"] for row in plain(known)["rows"]] == [100, 200, 400]


def test_rates_with_total_times_and_no_epochs_are_rates():
    """Nobody knows how much work such times cover."""
    both = {"throughput": Number(100.0), "total_seconds": Number(9.0)}
    assert comparable([run(1, epochs=0, **both), run(2, epochs=0, **both)]).of.rate


def test_a_run_that_failed_is_named_and_left_out():
    good = run(1, total_seconds=Number(9.0))
    known = comparable([good, run(2, outcome="oom", total_seconds=Number(1.0))])
    assert known.remarks == ["out_2: the run ended as oom"]
    assert list(known.by_size) == [1]
