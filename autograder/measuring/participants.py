"""Measure the participants in a run: its ranks, hosts and devices."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from autograder.grouping import grouped
from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import first_line, yes_if
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


# --- each rank's report, compared with the others' ------------------------------------------


def of_each(run: Run, name: str) -> list[Any]:
    """Return the value that each rank reports under this name, or raise NotMeasured."""
    values = [getattr(rank, name) for rank in run.ranks]
    if not values or None in values:
        raise NotMeasured(f"not every rank reports its `{name}`")
    return values


def over_ranks(
    name: str, combine: Callable[[list[Any]], float], unit: str = ""
) -> Callable[[Run], Measure]:
    """Return a function that combines the values of the ranks under this name into one number."""
    return lambda run: exact(combine(of_each(run, name)), unit, run.rank_lines)


def different(values: Sequence[Any]) -> int:
    return len(set(values))
