"""Public checks of lesson 16: TensorFlow's own methods and parameter servers."""

import heapq
import random
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

UPDATES = 120
# Seconds without two equal sums, so that there is only one right order.
UNEQUAL = [1.0, 1.37, 5.11]


@exercise("16.1")
def check_16_1(simulate_async: Callable[..., Any]) -> str:
    """Check, for each update, the number of updates since its worker read the parameters."""
    for p in (2, 4, 16, 1):
        late = staleness(simulate_async, [1.0] * p)
        warm = late[p : p + (UPDATES - p) // p * p]
        mean = sum(warm) / len(warm)
        if abs(mean - (p - 1)) > 1e-9:
            expected = f"{p} workers of equal speed: staleness {p - 1} on average, after the start"
            raise CheckFailed(expected, f"{mean:.4g}", why_wrong(mean, late, p))
    right = [n - read for n, read in enumerate(simulated(UNEQUAL))]
    late = staleness(simulate_async, UNEQUAL)
    if late != right:
        first = next(n for n in range(UPDATES) if late[n] != right[n])
        advice = (
            "The worker that is ready first makes the next update. Store in a copy of `delays` "
            "when each worker will be ready, take the earliest, and add that worker's delay."
        )
        expected = f"delays {UNEQUAL}: update {first} is {right[first]} late"
        raise CheckFailed(expected, f"{late[first]} late", advice)
    return f"p - 1 for equal speeds; with delays {UNEQUAL} the slow one is up to {max(right)} late."


def staleness(simulate_async: Callable[..., Any], delays: list[float]) -> list[int]:
    reads = list(simulate_async(len(delays), list(delays), UPDATES))
    if len(reads) != UPDATES:
        advice = "Return one number for each update, in the order in which the updates are made."
        raise CheckFailed(f"a list of {UPDATES} numbers", f"{len(reads)}", advice)
    return [n - int(read) for n, read in enumerate(reads)]


def why_wrong(mean: float, late: list[int], p: int) -> str:
    reads = [n - each for n, each in enumerate(late)]
    if len(set(reads[p:])) == 1:
        return (
            "After the first p updates, your numbers are constant. Return which state each update "
            "read, not its staleness. After its update, a worker reads again."
        )
    if abs(mean - p) < 1e-9:
        return "A worker reads after its own update, so it has seen that one, too."
    if abs(mean - (p - 1) / 2) < 1e-9:
        return (
            "All workers read the same state and wait for each other. That is a barrier: the "
            "updates are synchronous."
        )
    return (
        "While one worker computes, each of the p - 1 others makes an update. Work through p = 2 "
        "by hand."
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


def wrong_reads(simulate_async: Callable[..., Any]) -> int:
    """Return how many numbers of the student's simulation are wrong, for random delays."""
    draw = random.Random(16)
    cases = [[draw.uniform(0.5, 6) for _ in range(p)] for p in (2, 3, 7)]
    return sum(
        differing(list(simulate_async(len(delays), list(delays), UPDATES)), simulated(delays))
        for delays in cases
    )


def differing(found: Sequence[Any], right: Sequence[int]) -> int:
    apart = sum(one != other for one, other in zip(found, right, strict=False))
    return apart + abs(len(found) - len(right))


# reads, rows of each update, and how many of them were changed in between
TABLES = (
    ([0, 0, 1, 2], [{1, 2}, {2, 3}, {4}, {4, 9}], [0, 1, 0, 1]),
    ([0, 0, 0, 0], [{1, 2}, {1, 2}, {1, 2}, {3}], [0, 2, 2, 0]),
    ([0, 1, 2], [{1}, {1}, {1}], [0, 0, 0]),
)


@exercise("16.2")
def check_16_2(missed: Callable[..., Any]) -> str:
    """Four updates: the second and the last each have one row that another has changed."""
    for reads, rows, right in TABLES:
        found = list(missed(list(reads), [set(each) for each in rows]))
        if found == right:
            continue
        late = [update - read for update, read in enumerate(reads)]
        advice = "Update k has seen the updates before reads[k]. Which others come before k?"
        if found == late:
            advice = "That is the staleness. Count rows of this update, not updates."
        elif len(found) == len(right) and sum(found) > sum(right):
            advice = "A row counts once, whoever has changed it, and only changes of others count."
        raise CheckFailed(f"reads {reads}, rows {rows}: {right}", shown(found), advice)
    return "An update is late only for the rows that others have changed."


def wrong_missed(missed: Callable[..., Any]) -> int:
    """Return how many numbers the student's function gets wrong, for random rows."""
    draw = random.Random(16)
    reads = [max(0, update - draw.randrange(6)) for update in range(UPDATES)]
    rows = [{draw.randrange(40) for _ in range(5)} for _ in reads]
    right = [
        sum(any(row in other for other in rows[read:update]) for row in own)
        for update, (read, own) in enumerate(zip(reads, rows, strict=True))
    ]
    return differing(list(missed(reads, rows)), right)


class Order:
    """An order of a coordinator that runs in this process, and only when it is waited for."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do = do
        self.value: tuple[Any, ...] = ()

    def fetch(self) -> Any:
        self.value = self.value or (self.do(),)
        return self.value[0]


class Coordinator:
    """A replacement for TensorFlow's that remembers what was sent and what was waited for."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.updates = 0
        self.open: list[Order] = []

    def schedule(self, work: Callable[..., Any], args: Sequence[Any] = ()) -> Order:
        order = Order(lambda: work(*args))
        self.open.append(order)
        return order

    def join(self) -> None:
        for order in self.open:
            order.fetch()
        self.open = []

    def done(self) -> bool:
        """Return whether all orders are done. Do one of them if not: somebody may poll."""
        if not self.open:
            return True
        self.open.pop(0).fetch()
        return False

    def gradient(self, x: Any, y: Any, images: int) -> tuple[float, float, int]:
        self.log.append(f"gradient/{images}")
        return float(sum(y)), float(len(y)), self.updates

    def update(self) -> int:
        self.log.append("update")
        self.updates += 1
        return self.updates - 1


@exercise("16.3")
def check_16_3(program: Any) -> str:
    """Two workers and three batches: two gradients, an update, one gradient, an update."""
    stand_in, right = Coordinator(), ["gradient/7", "gradient/7", "update", "gradient/2", "update"]
    program.who, own = (lambda order: 0), program.who
    try:
        results = program.synchronous_epoch(
            stand_in, stand_in.gradient, stand_in.update,
            [([0] * n, [1] * n) for n in (4, 3, 2)], 2,
        )  # fmt: skip
        stand_in.join()
    finally:
        program.who = own
    if stand_in.log != right:
        advice = "An order is done after join() or its fetch(), or when done() is true. Each "
        advice += "gradient is divided by the images of all batches of its update, and the last "
        advice += "update may have fewer batches."
        raise CheckFailed(", ".join(right), ", ".join(stand_in.log), advice)
    wanted = [(0, 4.0, 4.0, 0), (0, 3.0, 3.0, 0), (0, 2.0, 2.0, 0)]
    found = [tuple(each) for each in results or []]
    if found != wanted:
        advice = "Staleness: update() returns how many updates came before it; compare with read."
        raise CheckFailed(shown(wanted), shown(found), advice)
    return "Each update has waited for the gradients of all workers."
