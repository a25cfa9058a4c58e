"""Measure what the run record states directly: in its header, end line and measures."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from autograder.codes import ReasonCode
from autograder.grouping import grouped
from autograder.measuring.interval import Measure, NotMeasured, exact, is_number, middle
from autograder.records import Rank, Run, Where
from autograder.submissions.kinds import output_name


def yes_if(answer: bool) -> str:
    return "yes" if answer else "no"


def first_line(run: Run) -> tuple[Where, ...]:
    """Return where the header's facts are or, without a header, where the run begins."""
    start = run.places.get("header") or run.start
    return (start,) if start else tuple(Where(file, 1) for file in run.files[:1])


def last_epoch(run: Run) -> tuple[Where, ...]:
    place = run.epochs[-1].where if run.epochs else None
    return (place,) if place else first_line(run)


# --- header and end -------------------------------------------------------------------------


def recorded(part: str, name: str, unit: str = "") -> Callable[[Run], Measure]:
    """Return a function that reads a number from the header or the end of the record."""
    block = part.partition(".")[0]

    def number(run: Run) -> Measure:
        value = attrgetter(part)(run).get(name)
        if value is None:
            hint = "" if block == "end" else "print the run record"
            raise NotMeasured(f"the {block} of the run record does not report `{name}`", hint)
        if value < 0:
            raise NotMeasured(f"`{name}` is {value:g}, but must not be negative")
        place = run.places.get(block)
        where = (place,) if place else first_line(run)
        return exact(value, unit, where, f"from the run record's {block}")

    return number


in_header = partial(recorded, "header")
at_end = partial(recorded, "end")
train_samples = recorded("header.dataset", "train_samples", "samples")


# Processes above rank 0 that are not launchers, and those above a job's; "?": none can be seen.
NO_LAUNCHER = re.compile(r"slurm\Z|slurmd|salloc|pbs_|laptop|tmux|screen")
OF_A_JOB = {
    "laptop": re.compile(r"laptop|tmux|screen|\?"),
    "slurm": re.compile(r"slurm|salloc|srun|stepd|tmux|screen|\?"),
}


def launched(run: Run) -> str:
    """Return "yes" if a launcher started the ranks, or if that is hidden, as in a container."""
    above = run.header.started_by
    if above is None:
        raise NotMeasured("the output does not report which processes started the ranks")
    return yes_if(any(not NO_LAUNCHER.search(name) for name in above))


def job_known(run: Run) -> str:
    """Return "yes" if the run has a job's number and the job's processes started it."""
    scheduler, above = run.header.scheduler, run.header.started_by
    mark = OF_A_JOB.get(scheduler or "")
    outside = mark is not None and above is not None and not any(map(mark.search, above))
    return yes_if(run.job_id is not None and scheduler != "none" and not outside)


# --- measures, and the record itself --------------------------------------------------------


def own_measure(name: str, run: Run, at: Mapping[str, Any]) -> Measure:
    """Return the median of a point's `measure` events with this name."""
    events = run.measured(name, **at)
    if not events:
        point = ", ".join(f"{key} = {value}" for key, value in at.items())
        raise NotMeasured(f"the run measured no {name}" + (f" at {point}" if point else ""))
    for event in events:
        if event.failed is not None:
            raise NotMeasured(
                f"the test of {name} failed: {event.failed}",
                "look at the test in probe.py, and at the program's output",
                [event.where],
                ReasonCode.TEST_FAILED,
            )
    measured = [event for event in events if event.value is not None]
    if len(measured) < len(events):
        raise NotMeasured(f"a value of {name} is not a number")
    values = [exact(event.value or 0.0, event.unit, [event.where]) for event in measured]
    return middle(values, f"median of {len(values)}" if len(values) > 1 else "")


def error_file_separate(run: Run) -> str:
    """Return "yes" if errors go to a separate file that contains no lines of the record."""
    records = {rank.where.file for rank in run.ranks if rank.where}
    return yes_if(any(output_name(file).is_error and file not in records for file in run.files))


def chain_intact(run: Run) -> str:
    if run.chain_intact is None:
        raise NotMeasured("the output has no run record")
    return yes_if(run.chain_intact)


# --- participants ------------------------------------------------------------------------------


def workers(run: Run) -> int | None:
    """Return the number of workers that took part: ranks × replicas per rank."""
    ranks = whole(run.workers) or whole(run.header.world_size)
    each = 1 if run.header.replicas is None else whole(run.header.replicas)
    return ranks * each if ranks and each else None


def known_workers(run: Run) -> int:
    """Return the number of workers, or raise NotMeasured."""
    count = workers(run)
    if count is None:
        raise NotMeasured("the output does not report how many ranks took part")
    return count


def whole(count: object) -> int | None:
    """Return the number if it is a positive integer."""
    return int(count) if is_number(count) and count >= 1 and int(count) == count else None


def ranks(run: Run) -> Measure:
    """Return the number of presence lines or, if the format has none, the stated number."""
    if run.ranks:
        count, basis = len({rank.rank for rank in run.ranks}), "presence lines of ranks"
        return exact(count, "ranks", run.rank_lines, basis)
    return exact(known_workers(run), "ranks", first_line(run))


def replicas(run: Run) -> Measure:
    """Return the number of replicas: one per rank, unless a process reports several."""
    if run.header.replicas is None:
        return ranks(run)
    count = workers(run)
    if count is None:
        raise NotMeasured("`replicas` is not a whole number of at least 1")
    return exact(count, "replicas", first_line(run), "from the run record's header")


def present_ranks(run: Run) -> tuple[Rank, ...]:
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    return run.ranks


def hosts(run: Run) -> Measure:
    return exact(len({rank.host for rank in present_ranks(run)}), "hosts", run.rank_lines)


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
