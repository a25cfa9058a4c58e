"""Tests of measurements of a network in stages: right answers give 0, wrong ones do not."""

import numpy as np
import pytest

from lessons.toolkit.stages import rounds


class Told:
    """A record that keeps what is measured."""

    def __init__(self):
        self.measures = []

    def measure(self, name, value, unit, **point):
        self.measures.append({"name": name, "value": value, **point})

    def values(self, name, **at):
        return [m["value"] for m in self.measures if m["name"] == name and at.items() <= m.items()]


def test_parameters_away_from_those_of_one_process():
    start, right = [np.zeros(3), np.zeros((2, 2))], [np.ones(3), np.full((2, 2), 0.1)]
    assert rounds.away(right, start, right) == 0.0
    assert rounds.away(start, start, right) == pytest.approx(1.0)
    assert rounds.away(right[:-1], start, right) == rounds.MOST
    for lost in ([*right[:-1], right[-1] * np.nan], [right[0] * np.inf, *right[1:]]):
        assert rounds.away(lost, start, right) == rounds.MOST


# A machine's seconds -> speedup, share, and the gain over what is wanted.
MACHINES = [
    ("two free cores", {"alone": 2.0, "silent": 2.1, 1: 2.1, 4: 1.5}, (1.333, 0.7, 1.186)),
    ("no overlap", {"alone": 2.0, "silent": 2.1, 1: 2.1, 4: 2.3}, (0.952, 0.5, 0.773)),
    ("cores that others use", {"alone": 2.0, "silent": 4.0, 1: 2.1, 4: 2.1}, (0.952, 0.952, 1.0)),
]


@pytest.mark.parametrize(("name", "seconds", "ratios"), MACHINES)
def test_rounds_are_measured_by_what_the_machine_gives(name, seconds, ratios):
    record = Told()
    rounds.say(record, [(n, seconds, {"moved": 0.1}) for n in (1, 2, 3)], ranks=2)
    names = ("pipeline_speedup", "pipeline_share", "gain_over_wanted")
    for what, right in zip(names, ratios, strict=True):
        assert record.values(what, fewest=1) == pytest.approx([right] * 3, abs=1e-3)
    assert record.values("rounds_made") == [3]
    [best] = record.values("best_micro_batches")
    assert best == min((1, 4), key=seconds.get)
    assert record.values("pipeline_moved") == [0.1]
