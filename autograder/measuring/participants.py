"""Measure the participants in a run: its ranks, hosts and devices, and what each rank reports."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograder.grouping import grouped
from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import at_end, first_line, in_header, yes_if
from autograder.records import Rank, Run


def ranks(run: Run) -> Measure:
    """Return the number of presence lines or, if the format has none, the stated number."""
    if run.ranks:
        count, basis = len({rank.rank for rank in run.ranks}), "presence lines of ranks"
        return exact(count, "ranks", run.rank_lines, basis)
    return exact(measure.known_workers(run), "ranks", first_line(run))


def replicas(run: Run) -> Measure:
    """Return the number of replicas: one per rank, unless a process reports several."""
    if run.header.replicas is None:
        return ranks(run)
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("`replicas` is not a whole number of at least 1")
    return exact(count, "replicas", first_line(run), "from the run record's header")


def present_ranks(run: Run) -> tuple[Rank, ...]:
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    return run.ranks


def hosts(run: Run) -> Measure:
    if run.ranks:
        return exact(len({rank.host for rank in run.ranks}), "hosts", run.rank_lines)
    if not run.header.hosts:
        raise NotMeasured("the output does not name its hosts")
    return exact(len(set(run.header.hosts)), "hosts", first_line(run))


IDENTITY = re.compile(r"#([0-9a-f]{8})\Z")  # identifies a GPU; two GPUs may share a shorter number


def devices(run: Run) -> Measure:
    """Return the number of devices: a host's GPUs if they are distinguishable, else local ranks."""
    places = set()
    for rank in present_ranks(run):
        identity = IDENTITY.search(rank.device or "")
        places.add((rank.host, identity[1] if identity else rank.local_rank))
    return exact(len(places), "devices", run.rank_lines)


def local_ranks(run: Run) -> str:
    """Return "yes" if the ranks of each host count from 0 without a gap."""
    by_host = grouped((rank.host, rank.local_rank) for rank in present_ranks(run))
    return yes_if(all(set(own) == set(range(len(own))) for own in by_host.values()))


def files_written(run: Run) -> Measure:
    """Return the number of files written, summed over all ranks or as reported by rank 0."""
    counts = [rank.files_written for rank in run.ranks]
    if counts and None not in counts:
        return exact(sum(filter(None, counts)), "files", run.rank_lines, "sum over ranks")
    return at_end("files_written", "files")(run)


def checkpoint_kept(run: Run) -> str:
    """Return "yes" if rank 0 read the final parameters back from its file."""
    trained = [rank.param_hash for rank in run.ranks if rank.rank == 0]
    if run.end.checkpoint_hash is None or not trained or trained[0] is None:
        raise NotMeasured("the output does not report what the checkpoint contains")
    return yes_if(run.end.checkpoint_hash == trained[0])


# --- each rank's report, compared with the others' ------------------------------------------

REPORTED = {  # a fact of each rank, in words
    "param_hash": "its trained parameters",
    "start_hash": "which parameters training began with",
    "built_hash": "which parameters its ranks built",
    "loss": "the training loss of each rank",
    "steps": "how many steps each rank made",
    "samples": "how many samples each rank reads",
    "labels": "how many samples of each class the ranks read",
}


def of_each(run: Run, name: str) -> list[Any]:
    """Return what the ranks report under this name, or raise NotMeasured if any rank does not."""
    values = [getattr(rank, name) for rank in run.ranks]
    if not values or None in values:
        raise NotMeasured(f"the output does not report {REPORTED[name]}")
    return values


def over_ranks(
    name: str, combine: Callable[[list[Any]], float], unit: str = ""
) -> Callable[[Run], Measure]:
    """Return a function that combines what the ranks report under this name into one number."""
    return lambda run: exact(combine(of_each(run, name)), unit, run.rank_lines)


def different(values: Sequence[Any]) -> int:
    return len(set(values))


def largest_difference(values: Sequence[float]) -> float:
    return max(values) - min(values)


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


# --- each rank's share of the samples -------------------------------------------------------

# Samples are not marked one by one, because a record of a few lines can cover a billion of them.
# Limits in total and per share. No honest way of sharing needs more.
PIECES, PIECES_A_SHARE = 4096, 64


def _shares(run: Run) -> tuple[Counter[range], int]:
    """Return each share with the number of ranks that have it, and the size of the training set.

    A share is a range of indices.
    """
    size = measure.whole(run.header.dataset.train_samples)
    if size is None or size > 10**15:
        raise NotMeasured("the output does not report the size of the training set")
    shares: Counter[range] = Counter()
    for rank in present_ranks(run):
        if rank.slices is None and rank.shard_ids_hash != "all":
            raise NotMeasured(f"rank {rank.rank} does not report which samples it reads")
        for start, stop, step in rank.slices or ((0, None, 1),):
            share = range(start, size if stop is None else min(stop, size), step)
            if share:
                shares[share] += 1
    return shares, size


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


def _different(shares: Counter[range]) -> int:
    """Return the number of distinct samples that the ranks read."""
    different, before, end = 0, -1, -1
    for rest, first, last in sorted(_pieces(shares)):
        if rest != before:
            before, end = rest, -1
        different += max(0, last - max(first, end + 1) + 1)
        end = max(end, last)
    return different


def shard_overlap(run: Run) -> Measure:
    """Return the number of reads per epoch that repeat another rank's sample."""
    shares, _ = _shares(run)
    reads = sum(len(share) * count for share, count in shares.items())
    return exact(reads - _different(shares), "samples", run.rank_lines)


def shard_uncovered(run: Run) -> Measure:
    """Return the number of samples in the training set that no rank reads."""
    shares, size = _shares(run)
    return exact(size - _different(shares), "samples", run.rank_lines)
