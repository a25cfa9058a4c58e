"""Measure facts that only this course's programs record. Each metric is a loop over ranks or runs.

`metrics.py` lists them. Another course can delete this file with its rows there.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from autograder.grouping import grouped
from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import (
    different,
    first_line,
    in_header,
    of_each,
    present_ranks,
    yes_if,
)
from autograder.records import Run

# --- ranks ----------------------------------------------------------------------------------


def labels_apart(counts: Sequence[Sequence[int]]) -> float:
    """Return the largest difference between a class's fraction on one rank and on all ranks."""
    if different([len(labels) for labels in counts]) > 1 or not all(map(sum, counts)):
        raise NotMeasured("ranks do not count the same classes")
    totals = [sum(samples) for samples in zip(*counts, strict=True)]
    return max(
        abs(count / sum(labels) - total / sum(totals))
        for labels in counts
        for count, total in zip(labels, totals, strict=True)
    )


def same_params(base: Run, run: Run) -> str:
    """Return "yes" if all ranks trained the same parameters as in the other run, bit for bit."""
    return yes_if(different([*of_each(base, "param_hash"), *of_each(run, "param_hash")]) == 1)


def start_of_rank_0(run: Run) -> str:
    """Return "yes" if all ranks began with the parameters that rank 0 built."""
    began, built = of_each(run, "start_hash"), of_each(run, "built_hash")
    first = min(range(len(run.ranks)), key=lambda place: run.ranks[place].rank)
    return yes_if(set(began) == {built[first]})


def share_steps(run: Run) -> Measure:
    """Return ceil(samples / batch) for the rank with the fewest samples."""
    fewest = min(of_each(run, "samples"))
    batch = in_header("local_batch")(run).value
    if batch < 1:
        raise NotMeasured(f"`local_batch` is {batch:g}")
    steps = math.ceil(fewest / batch)
    return exact(steps, "steps", run.rank_lines, "samples of a rank / its batch size")


# A record of a few lines can claim a billion samples, and every sample takes a byte here.
MOST_SAMPLES = 10**8


def _reads(run: Run) -> tuple[int, int, int]:
    """Return how many samples the ranks read, how many different ones, and how many there are."""
    size = measure.whole(run.header.dataset.train_samples)
    if size is None:
        raise NotMeasured("the output does not report the size of the training set")
    shares: Counter[range] = Counter()
    for rank in present_ranks(run):
        if rank.slices is None and rank.shard_ids_hash != "all":
            raise NotMeasured(f"rank {rank.rank} does not report which samples it reads")
        for start, stop, step in rank.slices or ((0, None, 1),):
            shares[range(start, size if stop is None else min(stop, size), step)] += 1
    if max(size, sum(map(len, shares))) > MOST_SAMPLES:
        raise NotMeasured(f"the ranks share more than {MOST_SAMPLES:,} samples")
    read = bytearray(size)
    for share in shares:
        read[share.start : share.stop : share.step] = b"\1" * len(share)
    return sum(len(share) * count for share, count in shares.items()), read.count(1), size


def shard_overlap(run: Run) -> Measure:
    """Return the number of reads per epoch that repeat another rank's sample."""
    reads, different_samples, _ = _reads(run)
    return exact(reads - different_samples, "samples", run.rank_lines)


def shard_uncovered(run: Run) -> Measure:
    """Return the number of samples in the training set that no rank reads."""
    _, different_samples, size = _reads(run)
    return exact(size - different_samples, "samples", run.rank_lines)


# --- a sweep over workers, rules and seeds ------------------------------------------------------

# The program's header defines what a worker is. A single process can train as many workers would.


def latest(runs: Sequence[Run], *facts: str) -> dict[tuple, Run]:
    """Return the latest run for each number of workers and each combination of these facts."""
    by_setting: dict[tuple, Run] = {}
    for run in runs:  # oldest first
        count = measure.whole(run.header.get("workers"))
        if count is not None:
            by_setting[count, *(str(run.header.get(fact)) for fact in facts)] = run
    return by_setting


def useful_workers(runs: Sequence[Run], at: Mapping[str, Any]) -> Measure:
    """Return the largest N whose best rule loses at most `within` in accuracy relative to N = 1.

    The accuracy of a rule is the mean over the seeds.
    """
    by_rule = grouped(
        ((count, rule), measure.test_accuracy(run).value)
        for (count, rule, _), run in latest(runs, "rule", "seed").items()
    )
    means = grouped((count, mean(accuracies)) for (count, _), accuracies in by_rule.items())
    best = {count: max(of_rules) for count, of_rules in means.items()}
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
        accuracies = [epoch.val_accuracy for epoch in run.epochs]
        reached = (n for n, a in enumerate(accuracies, start=1) if a and a.value >= target)
        if epoch := next(reached, None):
            needed.setdefault(count, []).append(epoch)
    for count in (1, several):
        if count not in needed:
            raise NotMeasured(
                f"no finished run of {count:g} workers reached an accuracy of {target:g}",
                "submit the output as it is; the program stops by itself",
            )
    gain = mean(several * mean(needed[1]) / epochs for epochs in needed[several])
    table = "; ".join(f"{count} workers {epochs}" for count, epochs in sorted(needed.items()))
    return exact(gain, "", first_line(runs[-1]), f"epochs until {target:g}: {table}")
