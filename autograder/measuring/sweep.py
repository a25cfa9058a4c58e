"""Measure a sweep over workers, rules and seeds: all finished runs under one rubric name.

The program's header defines what a worker is. A single process can train as many workers would.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from autograder.measuring import epochs
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.measure import whole
from autograder.measuring.record_facts import first_line
from autograder.records import Run


def useful_workers(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the largest N whose best mean is at most `within` below the mean for N = 1.

    The mean is over the seeds.
    """
    best = best_of_each(runs)
    if 1 not in best:
        raise NotMeasured("the sweep has no run with one worker", "submit it with --workers 1 …")
    needed = best[1] - at["within"]
    largest = max(count for count, accuracy in best.items() if accuracy >= needed)
    table = ", ".join(f"{accuracy:.4f} for {count}" for count, accuracy in sorted(best.items()))
    return exact(largest, "workers", first_line(runs[-1]), f"the best of each N: {table}")


def sooner(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the speedup of `workers` workers over one worker in reaching the accuracy.

    Communication counts as free. The result is N divided by the ratio of the epochs that N workers
    and one worker need. The result is averaged over the seeds that reach the accuracy.
    """
    target, several = at["accuracy"], at["workers"]
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


def latest(runs: Sequence[Run], *facts: str) -> dict[tuple, Run]:
    """Return the latest run for each number of workers and each combination of these facts."""
    found: dict[tuple, Run] = {}
    for run in runs:  # oldest first
        count = whole(run.header.get("workers"))
        if count is not None:
            found[count, *(str(run.header.get(fact)) for fact in facts)] = run
    return found


def epochs_until(runs: Sequence[Run], target: float) -> dict[float, list[int]]:
    """For each N, return the epoch in which each seed first reaches the validation accuracy."""
    needed: dict[float, list[int]] = {}
    for (count, _), run in latest(runs, "seed").items():
        for number, epoch in enumerate(run.epochs, start=1):
            if epoch.val_accuracy and epoch.val_accuracy.value >= target:
                needed.setdefault(count, []).append(number)
                break
    return needed


def best_of_each(runs: Sequence[Run]) -> dict[int, float]:
    """Return the mean accuracy of the best rule for each number of workers."""
    by_rule: dict[tuple[int, str], list[float]] = {}
    for (count, rule, _), run in latest(runs, "rule", "seed").items():
        by_rule.setdefault((count, rule), []).append(epochs.test_accuracy(run).value)
    best: dict[int, float] = {}
    for (count, _), accuracies in by_rule.items():
        best[count] = max(best.get(count, 0.0), mean(accuracies))
    return best
