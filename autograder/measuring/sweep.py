"""Measure a sweep over workers, rules and seeds: all finished runs with one name in a rubric.

The program's header defines what a worker is. A single process can train as many workers would.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from autograder.measuring import epochs
from autograder.measuring.interval import Measure, NotMeasured, exact, is_number
from autograder.measuring.measure import whole
from autograder.measuring.record_facts import first_line
from autograder.records import Run


def useful_workers(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the largest N whose best rule has a mean at most `within` below the mean of N = 1.

    The mean is over the seeds.
    """
    within = at.get("within")
    if not is_number(within):
        raise NotMeasured("useful_workers needs `within` in `at`")
    best = best_of_each(runs)
    if 1 not in best:
        raise NotMeasured("the sweep has no run with one worker", "submit it with --workers 1 …")
    needed = best[1] - within
    largest = max(count for count, accuracy in best.items() if accuracy >= needed)
    table = ", ".join(f"{accuracy:.4f} for {count}" for count, accuracy in sorted(best.items()))
    return exact(largest, "workers", first_line(runs[-1]), f"the best of each N: {table}")


def sooner(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return how many times sooner `workers` workers reach the accuracy than one worker.

    Communication counts as free. The result is N divided by how many times more epochs N workers
    need. This factor is averaged over the seeds that reach the accuracy.
    """
    target, several = at.get("accuracy"), at.get("workers")
    if not is_number(target) or not is_number(several):
        raise NotMeasured("sooner needs `accuracy` and `workers` in `at`")
    needed = epochs_until(runs, target)
    for count in (1, several):
        if not needed.get(count):
            raise NotMeasured(
                f"no finished run of {count:g} workers reached an accuracy of {target:g}",
                "submit the output as it is; the program stops by itself",
            )
    alone = mean(needed[1])
    table = "; ".join(f"{count} workers {epochs}" for count, epochs in sorted(needed.items()))
    gain = mean(several * alone / epochs for epochs in needed[several])
    return exact(gain, "", first_line(runs[-1]), f"epochs until {target:g}: {table}")


def epochs_until(runs: Sequence[Run], target: float) -> dict[float, list[int]]:
    """Return, by N, the first epoch in which each seed reaches the validation accuracy."""
    latest: dict[tuple[int, str], int | None] = {}
    for run in runs:  # oldest first
        count = whole(run.header.get("workers"))
        if count is not None:
            reached = (
                number
                for number, epoch in enumerate(run.epochs, start=1)
                if epoch.val_accuracy and epoch.val_accuracy.value >= target
            )
            latest[count, str(run.header.seed)] = next(reached, None)
    needed: dict[float, list[int]] = {}
    for (count, _), number in latest.items():
        if number is not None:
            needed.setdefault(count, []).append(number)
    return needed


def best_of_each(runs: Sequence[Run]) -> dict[int, float]:
    """Return the best rule's mean accuracy for each N."""
    latest: dict[tuple[int, str, str], float] = {}
    for run in runs:  # oldest first
        count = whole(run.header.get("workers"))
        if count is not None:
            rule, seed = str(run.header.get("rule")), str(run.header.seed)
            latest[count, rule, seed] = epochs.test_accuracy(run).value
    by_rule: dict[tuple[int, str], list[float]] = {}
    for (count, rule, _), accuracy in latest.items():
        by_rule.setdefault((count, rule), []).append(accuracy)
    best: dict[int, float] = {}
    for (count, _), accuracies in by_rule.items():
        best[count] = max(best.get(count, 0.0), mean(accuracies))
    return best
