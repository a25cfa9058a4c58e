"""Who took part in a run: ranks, replicas, hosts, devices, and the files that each rank wrote."""

import re
from collections.abc import Callable
from typing import Any

from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.record_facts import at_end, first_line
from autograder.records import Rank, Run, Where


def lines(run: Run) -> tuple[Where, ...]:
    return tuple(rank.where for rank in run.ranks if rank.where)


def ranks(run: Run) -> Measure:
    """Presence lines where the format has them, else what the run says."""
    if run.ranks:
        return exact(
            len({r.rank for r in run.ranks}), "ranks", lines(run), "presence lines of ranks"
        )
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("the output does not say how many ranks took part")
    return exact(count, "ranks", first_line(run))


def replicas(run: Run) -> Measure:
    """One a rank, unless one process says that it drives several."""
    if run.header.get("replicas") is None:
        return ranks(run)
    count = measure.workers(run)
    if count is None:
        raise NotMeasured("`replicas` is no whole number from 1 on")
    return exact(count, "replicas", first_line(run), "from the run record's header")


def hosts(run: Run) -> Measure:
    if run.ranks:
        return _distinct(run, lambda rank: rank.host, "hosts")
    named = run.header.get("hosts")
    if not isinstance(named, list) or not named:
        raise NotMeasured("the output does not name its hosts")
    return exact(len({str(host) for host in named}), "hosts", first_line(run))


IDENTITY = re.compile(r"#([0-9a-f]{8})\Z")  # of a GPU; a shorter number another one may have too


def devices(run: Run) -> Measure:
    """Places that ranks ran at: GPUs of a host as far as they can be told apart, or local ranks."""

    def place(rank: Rank) -> tuple[Any, Any]:
        told = IDENTITY.search(rank.device or "")
        return rank.host, told[1] if told else rank.local_rank

    return _distinct(run, place, "devices")


def local_ranks(run: Run) -> str:
    """Whether the ranks of each host count from 0 without a gap."""
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    found: dict[str | None, list[int | None]] = {}
    for rank in run.ranks:
        found.setdefault(rank.host, []).append(rank.local_rank)
    return "yes" if all(set(own) == set(range(len(own))) for own in found.values()) else "no"


def _distinct(run: Run, place: Callable[[Rank], Any], unit: str) -> Measure:
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    return exact(len({place(rank) for rank in run.ranks}), unit, lines(run))


def files_written(run: Run) -> Measure:
    """What each rank says at its end, else rank 0's sum."""
    counts = [rank.files_written for rank in run.ranks]
    if counts and None not in counts:
        return exact(sum(filter(None, counts)), "files", lines(run), "sum over ranks")
    return at_end("files_written")(run)
