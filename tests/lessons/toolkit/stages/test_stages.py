"""Tests of measurements of a network in stages: right answers give 0, wrong ones do not."""

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit.ranks.schedules import Deadlock
from lessons.toolkit.stages import plans, rounds

plan = program("11_pipeline", "plan")


class Told:
    """A record that keeps what is measured."""

    def __init__(self):
        self.measures = []

    def measure(self, name, value, unit, **point):
        self.measures.append({"name": name, "value": value, **point})

    def values(self, name, **at):
        return [m["value"] for m in self.measures if m["name"] == name and at.items() <= m.items()]


def test_the_solution_has_no_excess():
    assert plans.split_excess(plan.split) == 0
    assert plans.schedule_excess(plan.schedule, "gpipe") == 0
    assert plans.schedule_excess(plan.schedule, "1f1b") == 0
    assert plans.schedule_held(plan.schedule, "gpipe") == 8
    assert plans.schedule_held(plan.schedule, "1f1b") == 4
    assert plans.grid_wrong(plan.grid) == 0


def filled_one_after_the_other(costs, p):
    """Cut where the sum reaches the next p-th of the total, and leave each stage a layer."""
    bounds = [0]
    for stage in range(1, p):
        at = bounds[-1] + 1
        while at < len(costs) - (p - stage) and sum(costs[:at]) < stage * sum(costs) / p:
            at += 1
        bounds.append(at)
    return [*bounds, len(costs)]


@pytest.mark.parametrize(
    ("split", "least"),
    [
        (lambda costs, p: [round(s * len(costs) / p) for s in range(p + 1)], 0.2),
        (filled_one_after_the_other, 0.4),
        (lambda costs, p: [0, len(costs)], plans.MOST),
        (lambda costs, p: [0] * p + [len(costs)], plans.MOST),
    ],
)
def test_a_heavier_stage_than_need_be(split, least):
    assert plans.split_excess(split) >= least


def one_by_one(stages, m, kind):
    return [[(p, k) for k in range(m) for p in "FB"] for _ in range(stages)]


@pytest.mark.parametrize(
    ("schedule", "least"),
    [
        (one_by_one, 0.5),
        (lambda p, m, kind: one_by_one(p, m, kind)[1:], plans.MOST),
        (lambda p, m, kind: [[("B", k) for k in range(m)] for _ in range(p)], plans.MOST),
    ],
)
def test_a_schedule_that_waits_more_than_it_has_to(schedule, least):
    assert plans.schedule_excess(schedule, "1f1b") >= least


def test_stages_that_wait_for_each_other():
    with pytest.raises(Deadlock):
        plans.schedule_excess(lambda *words: [o[::-1] for o in one_by_one(*words)], "1f1b")


def test_ranks_that_are_told_another_place():
    assert plans.grid_wrong(lambda r, p, n: (r // n, r % n, [r])) > 5


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
