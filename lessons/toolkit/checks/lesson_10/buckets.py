"""Check the computed arrival time of the last bucket of gradients (10.3)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number

# When each bucket is full, and its time in transit, in milliseconds.
CASES: list[tuple[list[float], list[float]]] = [
    ([10, 20, 30, 40], [12, 12, 12, 12]),
    ([10, 40], [5, 5]),
    ([40], [48]),
    ([5, 6, 50], [20, 3, 7]),
    ([1, 2, 3], [0.5, 0.5, 0.5]),
]


@exercise("10.3")
def check_10_3(last_arrival: Callable[..., Any]) -> str:
    """One bucket is sent at a time, when it is full and the previous one has arrived."""
    for ready, travel in CASES:
        given = list(ready), list(travel)
        what = f"last_arrival({ready}, {travel})"
        found = number(last_arrival(*given), what)
        if given != (ready, travel):
            raise CheckFailed(f"{what} does not change its lists", "one changed", "Copy first.")
        right = arrived(ready, travel)
        mistakes = {
            float(max(ready) + sum(travel)): "That is without overlap: the first bucket leaves "
            "as soon as it is full, not when the last one is "
            "full.",
            float(max(r + t for r, t in zip(ready, travel, strict=True))): "Buckets share one "
            "link: a bucket waits until the one before it has arrived.",
            float(ready[0] + sum(travel)): "A bucket cannot leave before it is full, even if the "
            "link is free.",
            float(sum(travel)): "The first bucket is sent when it is full, not at time 0.",
        }
        mistakes.pop(right, None)
        advice = (
            "A bucket leaves at max(its own time, arrival of the previous bucket). Then it travels."
        )
        compare(found, right, what, mistakes, advice)
    return (
        "A bucket waits for its gradients and for the link. Four buckets take 58 ms, a single "
        "one 88 ms."
    )


def arrived(ready: list[float], travel: list[float]) -> float:
    now = 0.0
    for full, seconds in zip(ready, travel, strict=True):
        now = max(now, full) + seconds
    return now
