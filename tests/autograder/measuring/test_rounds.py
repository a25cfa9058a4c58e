"""Rounds of a speed job: the speedup they show, whatever else the machine did meanwhile."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from autograder.measuring import rounds
from autograder.measuring.interval import Measure, NotMeasured
from autograder.records import Run
from tests.autograder.make_record import some_rounds
from tests.autograder.make_run import make_measures, make_run

METRICS = (rounds.speedup, rounds.ceiling, rounds.share)


def run_of(*seconds: tuple[float, float, float], workers: int | None = 2, **more: object) -> Run:
    measures = some_rounds(*seconds, **more)
    return make_run(("a.out",), "record", "completed", workers=workers, measures=measures)


def numbers(found: Measure) -> tuple[float, float, float]:
    return found.value, found.low, found.high


# Each round's seconds of alone, silent, together; ranks; then speedup, ceiling, share.
STUDIES = {
    "nothing lost": ([(1, 1, 1), (2, 2, 2), (3, 3, 3)], 2, 2.0, 2.0, 1.0),
    "half of it lost to the exchange": ([(1, 1, 2), (2, 2, 4), (3, 3, 6)], 4, 2.0, 4.0, 0.5),
    "cores that share everything": ([(1, 2, 2), (2, 4, 4), (3, 6, 6)], 2, 1.0, 1.0, 1.0),
    "one round of another kind": ([(1, 1, 1), (2, 2, 2), (1, 9, 9), (4, 4, 4)], 2, 2.0, 2.0, 1.0),
}


@pytest.mark.parametrize(
    ("seconds", "ranks", "speedup", "ceiling", "share"), STUDIES.values(), ids=STUDIES
)
def test_what_rounds_say(seconds, ranks, speedup, ceiling, share):
    run = run_of(*seconds, workers=ranks)
    assert [metric(run).value for metric in METRICS] == pytest.approx([speedup, ceiling, share])


def test_the_range_over_the_rounds_is_the_interval():
    found = rounds.share(run_of((1, 1, 1.25), (1, 1, 1), (1, 1.2, 1), workers=2))
    assert numbers(found) == pytest.approx((1.0, 0.8, 1.2))
    assert found.basis == "median of 3 rounds"


# --- whatever else the machine did ---------------------------------------------------------------

SECONDS = st.floats(0.01, 100)
ROUNDS = st.lists(st.tuples(SECONDS, SECONDS, SECONDS), min_size=3, max_size=20, unique=True)


@given(ROUNDS, st.lists(st.floats(1, 10), min_size=20, max_size=20))
def test_a_neighbour_that_hits_all_of_a_round_changes_nothing(seconds, slower):
    slow = [tuple(s * by for s in one) for one, by in zip(seconds, slower, strict=False)]
    if len(set(slow)) < len(slow):
        return  # two rounds became equal by rounding
    for metric in METRICS:
        found = numbers(metric(run_of(*slow)))
        assert found == pytest.approx(numbers(metric(run_of(*seconds))))


@given(SECONDS, SECONDS, SECONDS)
def test_speedup_is_share_of_the_ceiling(alone, silent, together):
    run = run_of(*((alone * by, silent * by, together * by) for by in (1, 1.5, 2.25)))
    gain, most, share = (metric(run).value for metric in METRICS)
    assert gain == pytest.approx(most * share)
    assert rounds.how_many(run).value == 3


# --- what is not measured ------------------------------------------------------------------------

THREE = ((1, 2, 3), (2, 3, 4), (3, 4, 5))
NOT_MEASURED = {
    "no rounds": (run_of(), "0 rounds"),
    "one rank": (run_of(*THREE, workers=1), "a single rank"),
    "unknown ranks": (run_of(*THREE, workers=None), "how many ranks"),
    "a round copied": (run_of(*THREE, THREE[0]), "rounds 1 and 4"),
    "all of one number": (run_of(*THREE, round=1), "round 1 appears twice"),
    "a time of 0": (run_of((1, 1, 0), *THREE), "not above 0"),
    "no number": (run_of(*THREE, alone_s="nan"), "not above 0"),
    "a phase missing": (run_of(*THREE, silent_s=None), "not above 0"),
    "a round without number": (run_of(*THREE, round=None), "has no number"),
}


@pytest.mark.parametrize(("run", "reason"), NOT_MEASURED.values(), ids=NOT_MEASURED)
def test_what_is_no_rounds_is_not_measured(run, reason):
    for metric in METRICS:
        with pytest.raises(NotMeasured) as told:
            metric(run)
        assert reason in told.value.reason
        assert told.value.try_ or "ranks" in reason


# --- what each round says about the parameters ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "choose", "said", "value"),
    [("spread", max, (0.0, 0.5, 0.0), 0.5), ("moved", min, (0.3, 0.2, 0.0), 0.0)],
)
def test_the_worst_round_counts(name, choose, said, value):
    measures = tuple(
        event | {name: number}
        for event, number in zip(some_rounds(*THREE), said, strict=True)
    )  # fmt: skip
    run = replace(run_of(), measures=make_measures(measures))
    assert rounds.worst_over_rounds(name, choose)(run).value == value


@pytest.mark.parametrize("said", ["nan", None, -1, True, "much"])
def test_a_diverged_training_has_no_spread(said):
    with pytest.raises(NotMeasured, match="diverged"):
        rounds.worst_over_rounds("spread", max)(run_of(*THREE, spread=said))
