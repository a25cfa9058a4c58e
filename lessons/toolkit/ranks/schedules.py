"""Simulate a pipeline schedule: when stages work, when they idle, and what they hold.

An order is the work of one stage in sequence: ("F", 3) is the forward pass of micro-batch 3,
("B", 3) its backward pass. If a stage holds several pieces of the network, a third number is the
piece: ("F", 3, 1). Pieces follow one another as the layers do: piece 0 of all stages, then piece 1.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

Orders = Sequence[Sequence[tuple[Any, ...]]]  # the order of each stage


class Deadlock(Exception):  # noqa: N818 - it says what the stages do
    """A schedule that cannot finish. The message names the work that unfinished stages wait for."""


class Box(NamedTuple):
    """One piece of work with its start and end."""

    stage: int
    kind: str
    micro_batch: int
    piece: int
    start: float
    end: float


def timed(orders: Orders, forward: float = 1.0, backward: float = 2.0) -> list[Box]:
    """Return all pieces of work, each scheduled as early as the order and its inputs allow.

    forward, backward: the time of a stage's whole share of a micro-batch. Messages take no time.
    """
    stages, pieces = len(orders), pieces_of(orders)
    lasts = {"F": forward / pieces, "B": backward / pieces}
    ends: dict[tuple[str, int, int], float] = {}  # kind, micro-batch, place in the network -> end
    nexts, free, boxes = [0] * stages, [0.0] * stages, []
    moved = True
    while moved:
        moved = False
        for stage, order in enumerate(orders):
            while nexts[stage] < len(order):
                kind, number, piece = whole(order[nexts[stage]])
                place = piece * stages + stage
                needs = needed(kind, number, place, stages * pieces)
                if any(need not in ends for need in needs):
                    break
                start = max([free[stage], *(ends[need] for need in needs)])
                free[stage] = ends[kind, number, place] = start + lasts[kind]
                boxes.append(Box(stage, kind, number, piece, start, free[stage]))
                nexts[stage] += 1
                moved = True
    stuck = [
        f"stage {stage} waits at {order[done]}"
        for stage, (order, done) in enumerate(zip(orders, nexts, strict=True))
        if done < len(order)
    ]
    if stuck:
        raise Deadlock("; ".join(stuck))
    return boxes


def needed(kind: str, number: int, place: int, places: int) -> list[tuple[str, int, int]]:
    """Return the pieces of work that have to be finished before this one."""
    if kind == "F":
        return [("F", number, place - 1)] if place else []
    after = [("B", number, place + 1)] if place + 1 < places else []
    return [("F", number, place), *after]


def whole(work: tuple[Any, ...]) -> tuple[str, int, int]:
    kind, number, *piece = work
    return kind, number, piece[0] if piece else 0


def pieces_of(orders: Orders) -> int:
    return 1 + max((whole(work)[2] for order in orders for work in order), default=0)


def bubble(boxes: Sequence[Box]) -> float:
    """Return the fraction of all stages' time in which nothing is computed."""
    stages, until = 1 + max(box.stage for box in boxes), max(box.end for box in boxes)
    return 1 - sum(box.end - box.start for box in boxes) / (stages * until)


def held(orders: Orders) -> list[float]:
    """Return the peak number of micro-batches whose activations each stage holds.

    A micro-batch in one of several pieces counts for a fraction.
    """
    most = []
    for order in orders:
        steps = [1 if work[0] == "F" else -1 for work in order]
        most.append(max((sum(steps[: end + 1]) for end in range(len(steps))), default=0))
    return [count / pieces_of(orders) for count in most]


def interleaved(stages: int, micro_batches: int, pieces: int) -> list[list[tuple[Any, ...]]]:
    """Return the 1F1B order for stages that hold several pieces of the network.

    micro_batches: a multiple of stages.
    """
    if micro_batches % stages:
        raise ValueError(f"{micro_batches} micro-batches are not a multiple of {stages} stages")
    forward, group = [], stages * pieces
    for count in range(micro_batches * pieces):
        first, inside = count // group * stages, count % group
        forward.append((first + inside % stages, inside // stages))
    orders: list[list[tuple[Any, ...]]] = []
    for stage in range(stages):
        ahead = min(len(forward), 2 * (stages - stage - 1) + (pieces - 1) * stages + 1)
        order: list[tuple[Any, ...]] = [("F", *work) for work in forward[:ahead]]
        for count, (number, piece) in enumerate(forward):
            order.append(("B", number, pieces - 1 - piece))
            if count + ahead < len(forward):
                order.append(("F", *forward[count + ahead]))
        orders.append(order)
    return orders
