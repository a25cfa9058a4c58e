"""Compute the overlap and coverage of the ranks' shares from their presence lines.

Samples are not marked one by one, because a record of a few lines can cover a billion of them.
"""

import math
from collections import Counter
from collections.abc import Iterator

from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.records import Run

# Limits in total and per share. No honest way of sharing needs more.
PIECES, PIECES_A_SHARE = 4096, 64


def _shares(run: Run) -> tuple[Counter[range], int]:
    """Return each share with the number of ranks that have it, and the size of the training set.

    A share is a range of indices.
    """
    size = run.header.dataset.train_samples
    if size is None or not 1 <= size <= 10**15 or int(size) != size:
        raise NotMeasured("the output does not report the size of the training set")
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    shares: Counter[range] = Counter()
    for rank in run.ranks:
        if rank.slices is None and rank.shard_ids_hash != "all":
            raise NotMeasured(f"rank {rank.rank} does not report which samples it reads")
        for start, stop, step in rank.slices or ((0, None, 1),):
            share = range(start, int(size) if stop is None else min(stop, int(size)), step)
            if share:
                shares[share] += 1
    return shares, int(size)


def _pieces(shares: Counter[range]) -> Iterator[tuple[int, int, int]]:
    """Yield the shares, cut into pieces that all have the same step.

    A piece consists of its start modulo that step, and its first and last sample, counted in steps.
    """
    step = 1
    for each in {share.step for share in shares}:
        step = math.lcm(step, each)
        if sum(step // share.step for share in shares) > PIECES + PIECES_A_SHARE * len(shares):
            raise NotMeasured("the shares' steps are too different to compare the shares")
    for share in shares:
        for start in share[: step // share.step]:
            yield start % step, start // step, (share[-1] - start) // step + start // step


def _reads(run: Run) -> tuple[int, int, int]:
    """Return three counts: the reads of all ranks, the distinct samples read, and all samples."""
    shares, size = _shares(run)
    different, before, end = 0, -1, -1
    for rest, first, last in sorted(_pieces(shares)):
        if rest != before:
            before, end = rest, -1
        different += max(0, last - max(first, end + 1) + 1)
        end = max(end, last)
    return sum(len(share) * count for share, count in shares.items()), different, size


def shard_overlap(run: Run) -> Measure:
    """Return the number of reads per epoch that repeat another rank's sample."""
    reads, different, _ = _reads(run)
    return exact(reads - different, "samples", run.rank_lines)


def shard_uncovered(run: Run) -> Measure:
    """Return the number of samples in the training set that no rank reads."""
    _, different, size = _reads(run)
    return exact(size - different, "samples", run.rank_lines)
