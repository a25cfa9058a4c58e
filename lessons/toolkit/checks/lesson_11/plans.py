"""Checks of the split of layers (11.1), the idle time (11.2) and the schedule (11.3)."""

import itertools
from collections.abc import Sequence
from types import ModuleType

from autograder.wording import counted
from lessons.toolkit.checks.shared.check import CheckFailed, Function, check_number, exercise, shown
from lessons.toolkit.ranks.schedules import Deadlock, held, timed

CASES = (  # costs of layers, stages
    ((4, 4, 4, 4), 2),
    ((8, 1, 1, 1, 1), 2),
    ((1, 1, 1, 1, 8), 2),
    ((3, 1, 4, 1, 5, 9, 2, 6), 3),
    ((2, 7, 1, 8, 2, 8), 4),
    ((5, 1, 1, 1), 4),
    ((7, 1, 9, 4, 8), 3),  # filling stages one by one gives one stage 17 instead of 12
)
SPEED_JOB = ((401, 262, 262, 262, 262, 262, 262, 262, 5), 2)  # costs of its layers, stages


def heaviest(costs: Sequence[float], bounds: Sequence[int]) -> float:
    return max(sum(costs[a:b]) for a, b in itertools.pairwise(bounds))


def least(costs: Sequence[float], stages: int) -> float:
    """Return the weight of the heaviest stage in the best possible split."""
    inner = itertools.combinations(range(1, len(costs)), stages - 1)
    return min(heaviest(costs, [0, *cuts, len(costs)]) for cuts in inner)


@exercise("11.1")
def check_11_1(plan: ModuleType) -> str:
    """[4, 4, 4, 4] on two stages is cut at [0, 2, 4]; the heaviest stage is minimal."""
    for costs, stages in (*CASES, SPEED_JOB):
        what = f"split({list(costs)}, {stages})"
        bounds = list(plan.split(list(costs), stages))
        steps = [b - a for a, b in itertools.pairwise(bounds)]
        if len(steps) != stages or (bounds[0], bounds[-1]) != (0, len(costs)) or min(steps) < 1:
            wanted = f"{what}: {stages + 1} increasing numbers from 0 to {len(costs)}"
            advice = f"{stages} stages have {stages + 1} ends: 0, the cuts, and the number of "
            advice += "layers. Every stage needs a layer."
            raise CheckFailed(wanted, shown(bounds), advice)
        best, found = least(costs, stages), heaviest(costs, bounds)
        if found > best:
            advice = (
                "Filling one stage after the other does not find the best cut. These few layers can"
                " be cut in only a few ways: try them all."
            )
            if max(steps) - min(steps) <= 1:
                advice = "Equal numbers of layers do not mean equal work: add up the costs."
            wanted = f"{what}: the heaviest stage costs {best}"
            raise CheckFailed(wanted, f"{found}, with the ends {bounds}", advice)
    return "The heaviest stage, for which all others wait, is as light as possible."


DRAW = (
    "Draw 2 stages and 4 micro-batches as boxes, one row for each stage. In one row, count the "
    "idle boxes and all boxes."
)


@exercise("11.2")
def check_11_2(bubble: Function) -> str:
    """The idle fraction of the time is 0.5 for 2 stages with 1 micro-batch, and 0.2 with 4."""
    for stages, m in ((4, 6), (2, 4), (2, 1), (1, 4)):
        right = (stages - 1) / (m + stages - 1)
        mistakes = {
            (stages - 1) / m: "That is the other definition: idle time divided by busy time. Here, "
            "return idle time divided by the whole time, which cannot exceed 1.",
            (stages - 1) / (m + stages): DRAW,
            stages / (m + stages): DRAW,
            stages / (m + stages - 1): DRAW,
            1 - right: "That is the share of the time in which a stage works.",
        }
        check_number(bubble, "bubble", (stages, m), right, mistakes, DRAW)
    return "Idle turns over all turns of a stage."


@exercise("11.3")
def check_11_3(plan: ModuleType) -> str:
    """2 stages, 2 micro-batches: gpipe is F0 F1 B0 B1 on both; 1f1b is F0 B0 F1 B1 on the last."""
    for kind in ("gpipe", "1f1b"):
        check_schedule(plan.schedule, kind)
    check_grid(plan.grid)
    return (
        "Both orders finish as early as possible, 1F1B keeps few micro-batches in memory, and "
        "every rank has the right stage and replica."
    )


def check_schedule(schedule: Function, kind: str) -> None:
    for stages, m in ((2, 2), (2, 4), (3, 6), (4, 8), (4, 2), (1, 3)):
        try_schedule(schedule, stages, m, kind)


def check_grid(grid: Function) -> None:
    for stages, replicas in ((2, 2), (1, 3), (3, 2), (2, 4)):
        for rank in (*range(1, stages * replicas), 0):
            try_grid(grid, rank, stages, replicas)


def try_schedule(schedule: Function, stages: int, m: int, kind: str) -> None:
    what = f'schedule({stages}, {m}, "{kind}")'
    orders = [[(str(passed), int(k)) for passed, k in o] for o in schedule(stages, m, kind)]
    every = sorted((passed, k) for passed in "FB" for k in range(m))
    if len(orders) != stages or any(sorted(order) != every for order in orders):
        advice = "Each stage has a list, in which each micro-batch goes forward and back once."
        found = " and ".join(told(order) for order in orders)
        raise CheckFailed(f"{what}: {stages} lists of {2 * m} passes", found, advice)
    try:
        boxes = timed(orders)
    except Deadlock as dead:
        advice = "Before its backward pass, a stage needs its own forward pass and the backward "
        advice += "pass of the next stage."
        raise CheckFailed(f"{what} comes to an end", f"{dead}", advice) from None
    for stage, (order, most) in enumerate(zip(orders, held(orders), strict=True)):
        if kind == "gpipe" and [passed for passed, _ in order] != ["F"] * m + ["B"] * m:
            advice = "GPipe does all forward passes first, then all backward passes."
            raise CheckFailed(f"{what}: stage {stage} begins with {m} F", told(order), advice)
        allowed = m if kind == "gpipe" else min(m, stages - stage)
        if most > allowed:
            wanted = f"{what}: stage {stage} holds at most {counted(allowed, 'micro-batch')}"
            advice = f"Before its first B stage {stage} has {allowed} of the F; then each B makes "
            advice += "room for one more F."
            raise CheckFailed(wanted, f"{most:g}: {told(order)}", advice)
    span, right = max(box.end for box in boxes), 3 * (m + stages - 1)
    if span > right:
        advice = "A stage waits although it could work. How many forward passes can it do before "
        advice += "its first micro-batch comes back? It is `stages - stage`, so 1 on the last one."
        wanted = f"{what} takes {right} units of time, a backward pass being 2"
        raise CheckFailed(wanted, f"{span:g}", advice)


def told(order: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{passed}{k}" for passed, k in order[:16])


def try_grid(grid: Function, rank: int, stages: int, replicas: int) -> None:
    right = rank % stages, rank // stages, list(range(rank % stages, stages * replicas, stages))
    stage, replica, peers = grid(rank, stages, replicas)
    if (stage, replica, sorted(peers)) == right:
        return
    advice = "Draw one row of ranks for each replica. Which ranks are in the same column?"
    if (stage, replica) == (rank // replicas, rank % replicas) != right[:2]:
        advice = "The stages of a replica have consecutive ranks: rank 1 is stage 1 of replica 0."
    elif rank not in peers:
        advice = "This rank has these layers too, so it belongs in the list."
    elif (stage, replica) == right[:2]:
        advice = "A stage has the same layers in every replica."
    what = f"grid({rank}, {stages}, {replicas}) = {right}"
    raise CheckFailed(what, shown((stage, replica, peers)), advice)
