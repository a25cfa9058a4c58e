"""Public checks of lesson 16: TensorFlow's own methods and parameter servers."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

UPDATES = 120
# Seconds without two equal sums, so that there is only one right order.
UNEQUAL = [1.0, 1.37, 5.11]
# How late each of 120 updates is, as a digit from 0 to z: for UNEQUAL, and for random delays of 2,
# 3 and 7 workers.
LATE = (
    "011110218221102111922021110292211102182211021119131111102922"
    "1110211922102111813111110292211102111a1311111029221110218220"
)
RANDOM_LATE = (
    "011111102111111102111111102111111102111111102111110211111110"
    "211111110211111110211111110211111021111111021111111021111111",
    "012222222222222222222222222222222222222221322222222222132222"
    "222222222222222222222213222222222222222222222221322222222222",
    "00214527520272efa3a1819138281472hh2917a2914181362ah2i17a2919"
    "5207373g19h630a9251913629h251ia2982710262a82i62h1915aa304720",
)
# How many rows of each of 120 random updates others have changed.
MISSED = (
    "012021200312131041010233011101324012323111111024221020302002"
    "201110011013020210020110330011210201431042432000020202033002"
)


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
    right = digits(LATE)
    late = staleness(simulate_async, UNEQUAL)
    if late != right:
        first = next(n for n in range(UPDATES) if late[n] != right[n])
        advice = "The worker that is ready first makes the next update. When is it ready again?"
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


def digits(late: str) -> list[int]:
    return [int(digit, 36) for digit in late]


def wrong_reads(simulate_async: Callable[..., Any]) -> int:
    """Return how many numbers of the student's simulation are wrong, for random delays."""
    draw = random.Random(16)
    wrong = 0
    for p, late in zip((2, 3, 7), RANDOM_LATE, strict=True):
        reads = simulate_async(p, [draw.uniform(0.5, 6) for _ in range(p)], UPDATES)
        wrong += differing([n - read for n, read in enumerate(reads)], digits(late))
    return wrong


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
    return differing(list(missed(reads, rows)), digits(MISSED))


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
        self.most_open = 0

    def schedule(self, work: Callable[..., Any], args: Sequence[Any] = ()) -> Order:
        order = Order(lambda: work(*args))
        self.open.append(order)
        self.most_open = max(self.most_open, sum(not each.value for each in self.open))
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
        """Update as the server does. Before the second update, somebody else has made one."""
        self.updates += "update" in self.log
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
    if stand_in.most_open < 2:
        advice = "Give every worker its order before you wait for one."
        raise CheckFailed("both workers compute at the same time", "one after the other", advice)
    wanted = [(0, 4.0, 4.0, 0), (0, 3.0, 3.0, 0), (0, 2.0, 2.0, 1)]
    found = [tuple(each) for each in results or []]
    if found != wanted:
        advice = "Somebody else's update came between the last gradient and its own update. "
        advice += "Compare what update() returns with read."
        raise CheckFailed(shown(wanted), shown(found), advice)
    return "Each update has waited for the gradients of all workers."
