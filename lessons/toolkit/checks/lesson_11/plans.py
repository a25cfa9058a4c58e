"""Checks of the split of layers (11.1), the idle time (11.2) and the schedule (11.3)."""

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from autograder.wording import counted
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown
from lessons.toolkit.ranks.schedules import Deadlock, held, timed
from lessons.toolkit.stages.plans import CASES, heaviest, least

Function = Callable[..., Any]

SPLITS = (  # costs, stages
    *((list(costs), stages) for costs, stages in CASES),
    ([5, 5, 5], 1),
    ([401, 262, 262, 262, 262, 262, 262, 262, 5], 2),  # costs as in the speed job
)


@exercise("11.1")
def check_11_1(plan: ModuleType) -> str:
    """[4, 4, 4, 4] on two stages is cut at [0, 2, 4]; the heaviest stage is minimal."""
    for costs, stages in SPLITS:
        what = f"split({costs}, {stages})"
        given = list(costs)
        bounds = whole_numbers(plan.split(given, stages), what)
        if given != costs:
            raise CheckFailed(f"{what} does not change costs", shown(given), "Work on a copy.")
        if len(bounds) != stages + 1:
            advice = (
                f"{stages} stages have {stages + 1} ends: 0, the cuts, and the number of layers."
            )
            raise CheckFailed(f"{what}: {stages + 1} numbers", shown(bounds), advice)
        if (bounds[0], bounds[-1]) != (0, len(costs)):
            advice = "The first stage begins at layer 0, the last one ends after the last layer."
            raise CheckFailed(f"{what}: from 0 to {len(costs)}", shown(bounds), advice)
        if any(a >= b for a, b in itertools.pairwise(bounds)):
            advice = "Every stage needs a layer, so each end must be larger than the last."
            raise CheckFailed(f"{what}: increasing ends", shown(bounds), advice)
        best, found = least(costs, stages), heaviest(costs, bounds)
        if found > best:
            raise CheckFailed(
                f"{what}: the heaviest stage costs {best}",
                f"{found}, with the ends {bounds}",
                wrong_split(costs, stages, bounds),
            )
    return "The heaviest stage, for which all others wait, is as light as possible."


def whole_numbers(value: Any, what: str) -> list[int]:
    if value is None:
        raise CheckFailed(f"{what} is a list of numbers", "None", "Is there a `return`?")
    try:
        return [int(one) for one in value]
    except (TypeError, ValueError):
        advice = "Return the boundaries: [0, 2, 4] means layers 0 and 1, then layers 2 and 3."
        raise CheckFailed(f"{what} is a list of whole numbers", shown(value), advice) from None


def wrong_split(costs: Sequence[int], stages: int, bounds: Sequence[int]) -> str:
    sizes = {b - a for a, b in itertools.pairwise(bounds)}
    if max(sizes) - min(sizes) <= 1:
        return (
            "Equal numbers of layers do not mean equal work: one stage waits for the other. "
            "Add up the costs."
        )
    return (
        "Filling one stage after the other does not find the best cut. So few layers can be "
        "cut in only a few ways: try them all (itertools.combinations of the places between "
        "layers)."
    )


@exercise("11.2")
def check_11_2(bubble: Function) -> str:
    """The idle fraction of the time is 0.5 for 2 stages with 1 micro-batch, and 0.2 with 4."""
    for stages, m in ((4, 6), (2, 4), (2, 16), (8, 1), (2, 1), (1, 4), (3, 5)):
        right = (stages - 1) / (m + stages - 1)
        mistakes = {
            (stages - 1) / m: "That is the other definition: idle time divided by busy time. Here, "
            "return idle time divided by the whole time, which cannot exceed 1.",
            (stages - 1) / (m + stages): "How many turns are there? The last stage begins in "
            "turn number `stages` and then needs m turns.",
            stages / (m + stages): "A stage is idle in stages - 1 turns, not in `stages` turns.",
            1 - right: "That is the share of the time in which a stage works.",
            1 / (m + stages - 1): "Each stage is idle in stages - 1 turns.",
            stages - 1.0: "That is the number of idle turns: divide by the total number of turns.",
        }
        mistakes.pop(right, None)
        what = f"bubble({stages}, {m})"
        compare(number(bubble(stages, m), what), right, what, mistakes)
    return "A stage has m + stages - 1 turns, and is idle in stages - 1."


@exercise("11.3")
def check_11_3(plan: ModuleType) -> str:
    """2 stages, 2 micro-batches: gpipe is F0 F1 B0 B1 on both; 1f1b is F0 B0 F1 B1 on the last."""
    for kind in ("gpipe", "1f1b"):
        for stages, m in ((2, 2), (2, 4), (3, 6), (4, 8), (4, 2), (1, 3), (2, 1)):
            try_schedule(plan.schedule, stages, m, kind)
    for stages, replicas in ((2, 2), (2, 1), (1, 3), (3, 2), (2, 4)):
        for rank in (*range(1, stages * replicas), 0):
            try_grid(plan.grid, rank, stages, replicas)
    return (
        "Both orders finish as early as possible, 1F1B keeps few micro-batches in memory, and "
        "every rank has the right stage and replica."
    )


def try_schedule(schedule: Function, stages: int, m: int, kind: str) -> None:
    what = f'schedule({stages}, {m}, "{kind}")'
    found = schedule(stages, m, kind)
    try:
        orders = [[(str(passed), int(k)) for passed, k in order] for order in found]
    except (TypeError, ValueError):
        advice = 'Return a list of pairs for each stage, [("F", 0), ("B", 0)].'
        raise CheckFailed(f"{what}: {stages} lists of pairs", shown(found), advice) from None
    if len(orders) != stages:
        raise CheckFailed(
            f"{what}: {stages} lists", f"{len(orders)}", "Return one list for each stage."
        )
    every = sorted((passed, k) for passed in "FB" for k in range(m))
    for stage, order in enumerate(orders):
        if sorted(order) != every:
            advice = f"Each of the {m} micro-batches goes forward once and back once."
            raise CheckFailed(f"{what}: 2 × {m} passes of stage {stage}", told(order), advice)
    try:
        boxes = timed(orders)
    except Deadlock as dead:
        advice = (
            "Before its backward pass, a stage needs its own forward pass and the backward "
            "pass of the next stage."
        )
        raise CheckFailed(f"{what} comes to an end", f"{dead}", advice) from None
    for stage, (order, most) in enumerate(zip(orders, held(orders), strict=True)):
        allowed = m if kind == "gpipe" else min(m, stages - stage)
        if most > allowed:
            advice = (
                f"Before its first B stage {stage} has {allowed} of the F; then each B makes room "
                "for one more F."
            )
            raise CheckFailed(
                f"{what}: stage {stage} holds at most {counted(allowed, 'micro-batch')}",
                f"{most:g}: {told(order)}",
                advice,
            )
        if kind == "gpipe" and [passed for passed, _ in order] != ["F"] * m + ["B"] * m:
            advice = "GPipe does all forward passes first, then all backward passes."
            raise CheckFailed(f"{what}: stage {stage} begins with {m} F", told(order), advice)
    span = max(box.end for box in boxes)
    if span > 3 * (m + stages - 1) + 1e-9:
        raise CheckFailed(
            f"{what} takes {3 * (m + stages - 1)} units of time, a backward pass being 2",
            f"{span:g}",
            "A stage waits although it could work. How many forward passes can it do before its "
            "first micro-batch comes back? It is `stages - stage`, so 1 on the last stage.",
        )


def told(order: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{passed}{k}" for passed, k in order[:16])


def try_grid(grid: Function, rank: int, stages: int, replicas: int) -> None:
    what = f"grid({rank}, {stages}, {replicas})"
    right = rank % stages, rank // stages, [rank % stages + r * stages for r in range(replicas)]
    found = grid(rank, stages, replicas)
    try:
        stage, replica, peers = found
        mine = int(stage), int(replica), sorted(int(one) for one in peers)
    except (TypeError, ValueError):
        advice = "Return stage, replica, and the list of ranks with the same layers."
        raise CheckFailed(f"{what} = {right}", shown(found), advice) from None
    if mine == right:
        return
    advice = "Draw one row of ranks for each replica. Which ranks are in the same column?"
    if mine[:2] == right[:2]:
        advice = "A stage has the same layers in every replica."
        if rank not in mine[2]:
            advice = "This rank has these layers too, so it belongs in the list."
    elif mine[:2] == (rank // replicas, rank % replicas):
        advice = (
            "Here, the stages of a replica have consecutive ranks: rank 1 is stage 1 of replica 0."
        )
    raise CheckFailed(f"{what} = {right}", shown(found), advice)
