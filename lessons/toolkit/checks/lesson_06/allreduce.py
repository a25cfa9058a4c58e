"""Check a hand-written allreduce (6.1, 6.2) and one that overlaps with computation (6.5)."""

import ast
import inspect
import math
import re
import textwrap
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    exercise,
    shown,
)
from lessons.toolkit.ranks import Hang, SameArray, run_on_ranks

Function = Callable[..., Any]
SIZES = ((2, 8), (2, 7), (3, 12), (4, 12), (3, 7), (4, 6), (4, 3), (2, 1), (1, 5))  # ranks, length


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
        advice = ALONE if ranks == 1 else advice
        raise CheckFailed(expected, str(same), advice) from None
    for rank, found in enumerate(values):
        if not np.allclose(found, right, rtol=1e-5, atol=1e-6):
            advice = sum_advice(values, starts, right, rank, outcome.results[rank])
            if rebinds_chunks(allreduce):
                advice = REBOUND
            said = f"rank {rank} has {beginning(found)}, not {beginning(right)}"
            raise CheckFailed(expected, said, advice)
    return outcome.busiest


def beginning(values: np.ndarray) -> str:
    """Return the first four numbers, with three decimal places."""
    numbers = [round(float(value), 3) for value in values[:4]]
    return f"{numbers}{' …' if len(values) > 4 else ''}"


def hang_advice(hang: str, ranks: int) -> str:
    if ranks == 1:
        return ALONE
    if re.search(r"rank (\d+) (?:sends to|receives from) rank \1\b", hang):
        return (
            "A rank that waits for itself waits forever: rank 0 exchanges messages with the others "
            "only, `range(1, size)`."
        )
    if "sends" not in hang:
        return "Every rank receives and none sends: one rank has to send first."
    if hang.count("rank") < 2 * ranks:
        return "A rank has ended while others wait for it: do sends and receives match?"
    return (
        "Every rank waits for another. Let one side receive first, or use Sendrecv, which "
        "does both."
    )


ALONE = "With one rank nothing is sent: size - 1 is 0 rounds."
REBOUND = (
    "`chunks[k] = …` puts another array into the list and does not change `values`. Write into "
    "the chunk: `chunks[k][:] = …` or `chunks[k] += …`."
)


def rebinds_chunks(allreduce: Function) -> bool:
    """Return whether the function replaces elements of `chunks` and never changes `values`."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(allreduce)))
    except (OSError, TypeError, SyntaxError):  # this advice needs the source
        return False
    assigned = [t for node in ast.walk(tree) if isinstance(node, ast.Assign) for t in node.targets]
    written = {ast.unparse(t.value) for t in assigned if isinstance(t, ast.Subscript)}
    return "chunks" in written and "values" not in written


def sum_advice(
    values: list[np.ndarray], starts: list[np.ndarray], right: np.ndarray, rank: int, returned: Any
) -> str:
    if returned is not None and np.shape(returned) == right.shape and np.allclose(returned, right):
        return "You return the sum, but it has to be in `values` itself: values[:] = …"
    if np.allclose(values[rank], starts[rank]) and rank == 0:
        return (
            "Nothing changed on rank 0: `values += …` works in place, `values = values + …` does "
            "not."
        )
    if np.allclose(values[rank], starts[rank]):
        return f"Nothing arrived on rank {rank}: the sum has to be sent back to it."
    if np.allclose(values[rank], right / len(values), atol=1e-6):
        return "That is the mean. Sum here; the caller divides."
    if np.allclose(values[rank], right - starts[0], atol=1e-6):
        return "The sum does not include rank 0's own array."
    if len(values) == 1:
        return ALONE
    good = np.isclose(values[rank], right, rtol=1e-5, atol=1e-6)
    if good.any() and good[: good.sum()].all():
        return (
            "The end of the array is wrong: chunks differ in length if p does not divide the "
            "length of the array."
        )
    if good.any():
        return (
            "Some chunks are right and others are not: after the size - 1 rounds that add, size "
            "- 1 rounds have to pass the finished chunks on. Which chunk does each rank send in "
            "each round?"
        )
    return "Add every rank's numbers exactly once. Draw the rounds for 2 ranks."


@exercise("6.1")
def check_6_1(ps_allreduce: Function) -> str:
    """The sums are equal on 1 to 4 ranks, and the server moves 2 (p - 1) times the array's size."""
    for ranks, length in SIZES:
        sum_up(ps_allreduce, ranks, length)
    for ranks in (2, 4):
        moved = sum_up(ps_allreduce, ranks, 120) / 480
        if not math.isclose(moved, 2 * (ranks - 1)):
            raise CheckFailed(
                f"{ranks} ranks: the server moves {2 * (ranks - 1)} times the array",
                f"{moved:.3g} times",
                "Rank 0 receives one array from each other rank and sends one sum to each.",
            )
    return "The sums are right for any length. The server moves 2 (p - 1) arrays: 6 if p = 4."


@exercise("6.2")
def check_6_2(ring_allreduce: Function) -> str:
    """The sums are equal on 1 to 4 ranks; no rank moves more than 2 (p - 1) / p array sizes."""
    for ranks, length in SIZES:
        sum_up(ring_allreduce, ranks, length)
    for ranks in (4, 2):
        moved = sum_up(ring_allreduce, ranks, 120) / 480
        right = 2 * (ranks - 1) / ranks
        if moved > right * 1.01:
            advice = "Send while you receive: Sendrecv, or Isend and then Recv."
            if moved > 2 * right * 1.01 or math.isclose(moved, ranks - 1):
                advice = (
                    "Whole arrays are sent, or one rank acts as a server: send one chunk per round."
                )
            raise CheckFailed(
                f"{ranks} ranks: each moves {right:.3g} times the array", f"{moved:.3g}", advice
            )
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
            advice = (
                "Iallreduce(gradient, total) with total = np.empty_like(gradient); or "
                "Iallreduce(MPI.IN_PLACE, gradient), where the sum replaces the gradient."
            )
            raise CheckFailed(expected, str(same), advice) from None
        for found in outcome.results:
            if found is None or len(found) != 3:
                advice = "Return a list with the sum of every array."
                raise CheckFailed(expected, shown(found)[:60], advice)
            shapes = all(np.shape(f) == r.shape for f, r in zip(found, right, strict=True))
            if not shapes or not all(np.allclose(f, r) for f, r in zip(found, right, strict=True)):
                advice = (
                    "Wait for each request before you use its sum. Each request needs its own "
                    "array."
                )
                raise CheckFailed(expected, "other numbers", advice)
        if diary != [f"computes {k + 1}, {k} under way" for k in range(3)]:
            raise CheckFailed(
                "array 1 is under way while array 2 is computed",
                "; ".join(diary),
                "Start each Iallreduce inside the loop over `gradients`. Calling list(gradients) "
                "waits for all of them.",
            )
    in_words = waits_last(overlapped_allreduce)
    keeps_what_travels(overlapped_allreduce)
    return in_words


def keeps_what_travels(overlapped_allreduce: Function) -> None:
    """Check that gradients are kept in memory while they are being sent.

    MPI reads a gradient until its request ends, but Python may free an array that no variable
    holds.
    """
    expected = "every gradient is still in memory when the first Wait begins"

    def layers() -> Iterator[np.ndarray]:
        there = []
        for _ in range(3):
            made = [np.ones(2)]
            there.append(weakref.ref(made[0]))
            yield made.pop()
        lost = [number for number, each in enumerate(there, start=1) if each() is None]
        if lost:
            raise CheckFailed(
                expected,
                f"gradient {lost[0]} of 3 was thrown away while it travelled",
                "MPI reads the gradient until Wait, but mpi4py keeps no reference to it. Keep "
                "the gradient in your list, beside its request: started.append((request, total, "
                "gradient)).",
            )

    run_on_ranks(lambda comm, _: overlapped_allreduce(comm, layers()), [None, None])


def waits_last(overlapped_allreduce: Function) -> str:
    """Check that a late rank does not keep the others from computing."""
    import threading

    others_done = threading.Event()

    def layers(comm: Any) -> Iterator[np.ndarray]:
        for k in range(3):
            if comm.Get_rank() == 1 and k == 0 and not others_done.wait(timeout=5):
                raise CheckFailed(
                    "rank 0 computes all its arrays while rank 1 is late",
                    "rank 0 waited for rank 1 after its first array",
                    "Call Wait only after the loop: first start all, then wait for all.",
                )
            yield np.ones(2)
        if comm.Get_rank() == 0:
            others_done.set()

    run_on_ranks(lambda comm, _: overlapped_allreduce(comm, layers(comm)), [None, None])
    return "Each array travels while the next one is computed."
