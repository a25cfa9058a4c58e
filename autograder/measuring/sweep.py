"""Measure a sweep over workers, rules and seeds: all finished runs under one rubric name.

The program's header defines what a worker is. A single process can train as many workers would.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.measure import test_accuracy, whole
from autograder.measuring.record_facts import first_line
from autograder.records import Run


def latest(runs: Sequence[Run], *facts: str) -> dict[tuple, Run]:
    """Return the latest run for each number of workers and each combination of these facts."""
    found: dict[tuple, Run] = {}
    for run in runs:  # oldest first
        count = whole(run.header.get("workers"))
        if count is not None:
            found[count, *(str(run.header.get(fact)) for fact in facts)] = run
    return found


def useful_workers(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the largest N whose best rule is at most `within` less accurate than that of N = 1.

    The accuracy of a rule is the mean over the seeds.
    """
    by_rule: dict[tuple[int, str], list[float]] = {}
    for (count, rule, _), run in latest(runs, "rule", "seed").items():
        by_rule.setdefault((count, rule), []).append(test_accuracy(run).value)
    best: dict[int, float] = {}
    for (count, _), accuracies in by_rule.items():
        best[count] = max(best.get(count, 0.0), mean(accuracies))
    if 1 not in best:
        raise NotMeasured("the sweep has no run with one worker", "submit it with --workers 1 …")
    largest = max(count for count, accuracy in best.items() if accuracy >= best[1] - at["within"])
    table = ", ".join(f"{accuracy:.4f} for {count}" for count, accuracy in sorted(best.items()))
    return exact(largest, "workers", first_line(runs[-1]), f"the best of each N: {table}")


def sooner(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the speedup of `workers` workers over one worker in reaching the accuracy.

    Communication counts as free. The result is N divided by the ratio of the epochs that N workers
    and one worker need. The result is averaged over the seeds that reach the accuracy.
    """
    target, several = at["accuracy"], at["workers"]
    needed: dict[float, list[int]] = {}  # by N: the epoch in which each seed first reaches it
    for (count, _), run in latest(runs, "seed").items():
        for number, epoch in enumerate(run.epochs, start=1):
            if epoch.val_accuracy and epoch.val_accuracy.value >= target:
                needed.setdefault(count, []).append(number)
                break
    for count in (1, several):
        if count not in needed:
            raise NotMeasured(
                f"no finished run of {count:g} workers reached an accuracy of {target:g}",
                "submit the output as it is; the program stops by itself",
            )
    gain = mean(several * mean(needed[1]) / epochs for epochs in needed[several])
    table = "; ".join(f"{count} workers {epochs}" for count, epochs in sorted(needed.items()))
    return exact(gain, "", first_line(runs[-1]), f"epochs until {target:g}: {table}")
