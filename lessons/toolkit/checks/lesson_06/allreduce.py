"""Check a hand-written allreduce (6.1, 6.2) and one that overlaps with computation (6.5)."""

import math
import re
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown
from lessons.toolkit.ranks import Hang, SameArray, run_on_ranks

SIZES = ((2, 8), (2, 7), (3, 12), (4, 12), (3, 7), (4, 6), (4, 3), (2, 1), (1, 5))  # ranks, length
REBOUND = "`chunks[k] = …` changes the list and not `values`: write `chunks[k][:] = …`."
ALONE = "With one rank nothing is sent: size - 1 is 0 rounds."


def sum_up(allreduce: Function, ranks: int, length: int) -> int:
    """Run the allreduce, check its sums, and return the bytes that the busiest rank moved."""
    rng = np.random.default_rng(length)
    values = [rng.normal(size=length).astype(np.float32) for _ in range(ranks)]
    starts = [np.copy(part) for part in values]
    right = np.asarray(np.sum(starts, axis=0, dtype=np.float64))
    expected = f"{ranks} ranks, {length} numbers: the sum on every rank"
    try:
        outcome = run_on_ranks(allreduce, values)
    except Hang as hang:
        advice = hang_advice(str(hang), ranks)
        raise CheckFailed(expected, f"it hangs: {hang}", advice) from None
    except SameArray as same:
        advice = "Give Sendrecv another array to receive into, such as np.empty_like(…)."
        raise CheckFailed(expected, str(same), ALONE if ranks == 1 else advice) from None
    for rank, found in enumerate(values):
        if not np.allclose(found, right, rtol=1e-5, atol=1e-6):
            said = f"rank {rank} has {beginning(found)}, not {beginning(right)}"
            advice = sum_advice(found, starts, right, rank, outcome.results[rank])
            raise CheckFailed(expected, said, advice)
    return outcome.busiest


def arrays_moved(allreduce: Function, ranks: int) -> float:
    """Return the bytes that the busiest rank moves, as a multiple of the array's size."""
    return sum_up(allreduce, ranks, 120) / (120 * 4)


def beginning(values: np.ndarray) -> str:
    """Return the first four numbers, with three decimal places."""
    numbers = [round(float(value), 3) for value in values[:4]]
    return f"{numbers}{' …' if len(values) > 4 else ''}"


def hang_advice(hang: str, ranks: int) -> str:
    if ranks == 1:
        return ALONE
    if re.search(r"rank (\d+) (?:sends to|receives from) rank \1\b", hang):
        return (
            "A rank that waits for itself waits forever. With which ranks does rank 0 exchange "
            "messages?"
        )
    if hang.count("rank") < 2 * ranks:
        return "A rank has ended while others wait for it: do sends and receives match?"
    return "Every rank waits for another. Let one send while another receives, or use Sendrecv."


def sum_advice(
    found: np.ndarray, starts: list[np.ndarray], right: np.ndarray, rank: int, returned: Any
) -> str:
    if returned is not None and np.shape(returned) == right.shape and np.allclose(returned, right):
        return "You return the sum, but it has to be in `values` itself: values[:] = …"
    if np.allclose(found, starts[rank]):
        return (
            f"Nothing changed on rank {rank}. Does every rank receive the sum? `values += …` works "
            "in place, `values = values + …` does not."
        )
    if np.allclose(found, right / len(starts), atol=1e-6):
        return "That is the mean. Sum here; the caller divides."
    if len(starts) == 1:
        return ALONE
    good = np.isclose(found, right, rtol=1e-5, atol=1e-6)
    if len(found) % len(starts) and good.any() and good[: good.sum()].all():
        return (
            "The end of the array is wrong: chunks differ in length if p does not divide the "
            "length of the array."
        )
    if good.any():
        return (
            "Some chunks are right and others are not: after the size - 1 rounds that add, size "
            "- 1 rounds have to pass the finished chunks on. Which chunk does each rank send in "
            f"each round? {REBOUND}"
        )
    return f"Add every rank's numbers exactly once, rank 0's too. {REBOUND}"


@exercise("6.1")
def check_6_1(ps_allreduce: Function) -> str:
    """The sums are equal on 1 to 4 ranks, and the server moves 2 (p - 1) times the array's size."""
    for ranks, length in SIZES:
        sum_up(ps_allreduce, ranks, length)
    for ranks in (2, 4):
        moved, right = arrays_moved(ps_allreduce, ranks), 2 * (ranks - 1)
        if not math.isclose(moved, right):
            advice = "Rank 0 receives one array from each other rank and sends one sum to each."
            expected = f"{ranks} ranks: the server moves {right} times the array"
            raise CheckFailed(expected, f"{moved:.3g} times", advice)
    return "The sums are right for any length. The server moves 2 (p - 1) arrays: 6 if p = 4."


@exercise("6.2")
def check_6_2(ring_allreduce: Function) -> str:
    """The sums are equal on 1 to 4 ranks; no rank moves more than 2 (p - 1) / p array sizes."""
    for ranks, length in SIZES:
        sum_up(ring_allreduce, ranks, length)
    for ranks in (4, 2):
        moved = arrays_moved(ring_allreduce, ranks)
        right = 2 * (ranks - 1) / ranks
        if not math.isclose(moved, right, rel_tol=0.01):
            advice = "Send while you receive: Sendrecv, or Isend and then Recv."
            if moved < right:
                advice = "The sum did not travel in your messages. Write the ring's own."
            elif moved > 2 * right * 1.01 or math.isclose(moved, ranks - 1):
                advice = "Send one chunk per round, not whole arrays, and let no rank be a server."
            expected = f"{ranks} ranks: each moves {right:.3g} times the array"
            raise CheckFailed(expected, f"{moved:.3g}", advice)
    return "The sums are right for any length. Each rank moves 2 (p - 1) / p arrays: 1.5 if p = 4."


@exercise("6.5")
def check_6_5(overlapped_allreduce: Function) -> str:
    """The sums are still right, and the first array is sent before the second is computed."""
    for ranks in (1, 2, 4):
        diary: list[str] = []

        def layers(
            comm: Any, values: list[np.ndarray], diary: list[str] = diary
        ) -> Iterator[np.ndarray]:
            for number_, value in enumerate(values, start=1):
                if comm.Get_rank() == 0:
                    diary.append(f"computes {number_}, {comm.collectives} under way")
                yield value

        rng = np.random.default_rng(ranks)
        values = [[rng.normal(size=n) for n in (7, 3, 5)] for _ in range(ranks)]
        right = [np.sum([rank[k] for rank in values], axis=0) for k in range(3)]
        expected = "a list of three sums, in the order of the gradients"
        try:
            outcome = run_on_ranks(
                lambda comm, own: overlapped_allreduce(comm, layers(comm, own)), values
            )
        except Hang as hang:
            advice = "Call Iallreduce for every array on every rank, in the same order."
            raise CheckFailed(expected, f"it hangs: {hang}", advice) from None
        except SameArray as same:
            advice = "MPI may not write where it reads. The sum needs an array of its own."
            raise CheckFailed(expected, str(same), advice) from None
        for found in outcome.results:
            if not isinstance(found, list | tuple) or len(found) != 3:
                advice = "Return a list with the sum of every array."
                raise CheckFailed(expected, shown(found), advice)
            if not all(
                np.shape(f) == r.shape and np.allclose(f, r)
                for f, r in zip(found, right, strict=True)
            ):
                advice = "When is a sum complete, and is anything else written into its array?"
                raise CheckFailed(expected, "other numbers", advice)
        if diary != [f"computes {k + 1}, {k} under way" for k in range(3)]:
            raise CheckFailed(
                "array 1 is under way while array 2 is computed",
                "; ".join(diary),
                "`gradients` computes an array when you ask for the next one. Which sums travel "
                "by then?",
            )
    waits_last(overlapped_allreduce)
    keeps_what_travels(overlapped_allreduce)
    return "Each array travels while the next one is computed."


def keeps_what_travels(overlapped_allreduce: Function) -> None:
    """Check that gradients are kept in memory while they are being sent.

    MPI reads a gradient until its request ends, but Python may free an array that no variable
    holds.
    """

    def layers() -> Iterator[np.ndarray]:
        there = []
        for _ in range(3):
            made = [np.ones(2)]
            there.append(weakref.ref(made[0]))
            yield made.pop()
        if any(each() is None for each in there):
            raise CheckFailed(
                "every gradient is still in memory when the first Wait begins",
                "a gradient was thrown away while it travelled",
                "mpi4py keeps no reference to it. What in your function still holds the gradient "
                "when Wait begins?",
            )

    run_on_ranks(lambda comm, _: overlapped_allreduce(comm, layers()), [None, None])


def waits_last(overlapped_allreduce: Function) -> None:
    """Check that a late rank does not keep the others from computing."""
    others_done = threading.Event()

    def layers(comm: Any) -> Iterator[np.ndarray]:
        for k in range(3):
            if comm.Get_rank() == 1 and k == 0 and not others_done.wait(timeout=5):
                raise CheckFailed(
                    "rank 0 computes all its arrays while rank 1 is late",
                    "rank 0 waited for rank 1 after its first array",
                    "When does your function wait, and what could it do instead?",
                )
            yield np.ones(2)
        if comm.Get_rank() == 0:
            others_done.set()

    run_on_ranks(lambda comm, _: overlapped_allreduce(comm, layers(comm)), [None, None])
