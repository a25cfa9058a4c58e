"""Check a simulation of workers without a barrier (16.2)."""

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

UPDATES = 120
# Seconds without two equal sums, so that there is only one right order.
UNEQUAL = (1.0, 1.37, 5.11)


@exercise("16.2")
def check_16_2(simulate_async: Callable[..., Any]) -> str:
    """Check, for each update, the number of updates since its worker read the parameters."""
    for p in (2, 4, 16, 1):
        late = staleness(simulate_async, p, [1.0] * p)
        warm = late[p : p + (UPDATES - p) // p * p]
        mean = sum(warm) / len(warm)
        if abs(mean - (p - 1)) > 1e-9:
            expected = f"{p} workers of equal speed: staleness {p - 1} on average, after the start"
            raise CheckFailed(expected, f"{mean:.4g}", why_wrong(mean, late, p))
    right = [n - read for n, read in enumerate(simulated(UNEQUAL))]
    late = staleness(simulate_async, len(UNEQUAL), list(UNEQUAL))
    if late != right:
        first = next(n for n in range(UPDATES) if late[n] != right[n])
        advice = (
            "The worker that is ready first makes the next update. Store when each worker "
            "will be ready, take the earliest, and add that worker's delay."
        )
        if late == [n - read for n, read in enumerate(simulated([1.0] * len(UNEQUAL)))]:
            advice = f"The delays make no difference. {advice}"
        expected = f"delays {UNEQUAL}: update {first} is {right[first]} late"
        raise CheckFailed(expected, f"{late[first]} late", advice)
    return f"p - 1 for equal speeds; with delays {UNEQUAL} the slow one is up to {max(right)} late."


def staleness(simulate_async: Callable[..., Any], p: int, delays: list[float]) -> list[int]:
    call = f"simulate_async({p}, {delays if p < 4 else '…'}, {UPDATES})"
    reads = simulate_async(p, given := list(delays), UPDATES)
    if given != delays:
        advice = (
            "Start from a copy of the times, list(delays); otherwise the delays change as well."
        )
        raise CheckFailed(f"{call} does not change the list delays", "it was changed", advice)
    if reads is None:
        raise CheckFailed(f"{call} is a list", "None", "Is there a `return` in front of it?")
    if not isinstance(reads, Sequence) and not hasattr(reads, "tolist"):
        raise CheckFailed(f"{call} is a list", shown(reads), "Return one number for each update.")
    if len(reads) != UPDATES:
        advice = "Return one number for each update, in the order in which the updates are made."
        raise CheckFailed(f"{call} has {UPDATES} numbers", f"{len(reads)}", advice)
    late = [n - int(read) for n, read in enumerate(reads)]
    if min(late) < 0:
        first = next(n for n in range(UPDATES) if late[n] < 0)
        advice = (
            f"Before update {first} there were {first} updates: nobody can have read a later state."
        )
        raise CheckFailed(f"update {first} read a state of at most {first}", reads[first], advice)
    return late


def why_wrong(mean: float, late: list[int], p: int) -> str:
    reads = [n - each for n, each in enumerate(late)]
    if all(read == reads[p] for read in reads[p:]) and reads[p] < p:
        if reads[p] > 0:
            return (
                "After the first p updates, your numbers are constant. Return which state each "
                "update read, not its staleness."
            )
        return "After its update, a worker reads again; here it keeps using what it read first."
    if abs(mean - p) < 1e-9:
        return "A worker reads after its own update, so that update is included: update + 1."
    if abs(mean - (p - 1) / 2) < 1e-9:
        return (
            "All workers read the same state and wait for each other. That is a barrier: the "
            "updates are synchronous."
        )
    if mean == 0:
        return "No update is late, as if the workers took turns. But they compute at the same time."
    return (
        "While one worker computes, each of the p - 1 others makes an update. Work through p "
        "= 2 by hand."
    )


def simulated(delays: Sequence[float]) -> list[int]:
    ready = [(delay, worker) for worker, delay in enumerate(delays)]
    heapq.heapify(ready)
    read, reads = [0] * len(delays), []
    for update in range(UPDATES):
        now, worker = heapq.heappop(ready)
        reads.append(read[worker])
        read[worker] = update + 1
        heapq.heappush(ready, (now + delays[worker], worker))
    return reads
