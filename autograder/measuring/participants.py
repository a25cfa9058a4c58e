"""Measure the participants of a run: ranks, replicas, hosts, devices, and each rank's report."""

import math
import re
from collections.abc import Callable
from typing import Any

from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import at_end, first_line, in_header
from autograder.records import Rank, Run


def ranks(run: Run) -> Measure:
    """Return the number of presence lines or, if the format has none, the stated number."""
    if run.ranks:
        return exact(
            len({r.rank for r in run.ranks}), "ranks", run.rank_lines, "presence lines of ranks"
        )
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("the output does not report how many ranks took part")
    return exact(count, "ranks", first_line(run))


def replicas(run: Run) -> Measure:
    """Return the number of replicas: one per rank, unless a process reports several."""
    if run.header.replicas is None:
        return ranks(run)
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("`replicas` is not a whole number of at least 1")
    return exact(count, "replicas", first_line(run), "from the run record's header")


def hosts(run: Run) -> Measure:
    if run.ranks:
        return _distinct(run, lambda rank: rank.host, "hosts")
    if not run.header.hosts:
        raise NotMeasured("the output does not name its hosts")
    return exact(len(set(run.header.hosts)), "hosts", first_line(run))


IDENTITY = re.compile(r"#([0-9a-f]{8})\Z")  # identifies a GPU; two GPUs may share a shorter number


def devices(run: Run) -> Measure:
    """Return the number of devices: a host's GPUs if they are distinguishable, else local ranks."""

    def place(rank: Rank) -> tuple[Any, Any]:
        identity = IDENTITY.search(rank.device or "")
        return rank.host, identity[1] if identity else rank.local_rank

    return _distinct(run, place, "devices")


def local_ranks(run: Run) -> str:
    """Return "yes" if the ranks of each host count from 0 without a gap."""
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    by_host: dict[str | None, list[int | None]] = {}
    for rank in run.ranks:
        by_host.setdefault(rank.host, []).append(rank.local_rank)
    return "yes" if all(set(own) == set(range(len(own))) for own in by_host.values()) else "no"


def _distinct(run: Run, place: Callable[[Rank], Any], unit: str) -> Measure:
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    return exact(len({place(rank) for rank in run.ranks}), unit, run.rank_lines)


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
    return "yes" if run.end.checkpoint_hash == trained[0] else "no"


def same_params(base: Run, run: Run) -> str:
    """Return "yes" if all ranks trained the same parameters as in the other run, bit for bit."""
    hashes = [set(_of_each(each, "param_hash", "its trained parameters")) for each in (base, run)]
    return "yes" if hashes[0] == hashes[1] and len(hashes[0]) == 1 else "no"


# --- each rank's report, compared with the others' ------------------------------------------


def starts(run: Run) -> Measure:
    hashes = _of_each(run, "start_hash", "which parameters training began with")
    return exact(len(set(hashes)), "starts", run.rank_lines)


def start_of_rank_0(run: Run) -> str:
    began = _of_each(run, "start_hash", "which parameters training began with")
    built = _of_each(run, "built_hash", "which parameters its ranks built")
    first = min(range(len(run.ranks)), key=lambda place: run.ranks[place].rank)
    return "yes" if set(began) == {built[first]} else "no"


def rank_losses(run: Run) -> Measure:
    losses = _of_each(run, "loss", "the training loss of each rank")
    return exact(len(set(losses)), "losses", run.rank_lines)


def steps_apart(run: Run) -> Measure:
    steps = _of_each(run, "steps", "how many steps each rank made")
    return exact(max(steps) - min(steps), "steps", run.rank_lines)


def share_steps(run: Run) -> Measure:
    """Return ceil(samples / batch) for the rank with the fewest samples."""
    fewest = min(_of_each(run, "samples", "how many samples each rank reads"))
    batch = in_header("local_batch")(run).value
    if batch < 1:
        raise NotMeasured(f"`local_batch` is {batch:g}")
    return exact(
        math.ceil(fewest / batch), "steps", run.rank_lines, "samples of a rank / its batch size"
    )


def labels_apart(run: Run) -> Measure:
    """Return the largest difference between a class's fraction on one rank and on all ranks."""
    counts = _of_each(run, "labels", "how many samples of each class the ranks read")
    if len({len(labels) for labels in counts}) > 1 or not all(map(sum, counts)):
        raise NotMeasured("ranks do not count the same classes")
    whole = [sum(samples) for samples in zip(*counts, strict=True)]
    apart = [
        abs(here / sum(labels) - there / sum(whole))
        for labels in counts
        for here, there in zip(labels, whole, strict=True)
    ]
    return exact(max(apart), "", run.rank_lines)


def _of_each(run: Run, name: str, what: str) -> list[Any]:
    values = [getattr(rank, name) for rank in run.ranks]
    if not values or None in values:
        raise NotMeasured(f"the output does not report {what}")
    return values
