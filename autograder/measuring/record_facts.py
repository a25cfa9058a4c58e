"""Measure what the run record states directly: in its header, end line and measures."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from autograder.measuring.interval import Measure, NotMeasured, exact, middle
from autograder.records import Run, Where


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
    measured = [event for event in events if event.value is not None]
    if len(measured) < len(events):
        raise NotMeasured(f"a value of {name} is not a number")
    values = [exact(event.value or 0.0, event.unit, [event.where]) for event in measured]
    return middle(values, f"median of {len(values)}" if len(values) > 1 else "")


ERROR_FILE = re.compile(r".*\.(err|er|error|stderr|e\d*)\Z", re.IGNORECASE)


def error_file_separate(run: Run) -> str:
    """Return "yes" if errors go to a separate file that contains no lines of the record."""
    records = {rank.where.file for rank in run.ranks if rank.where}
    return yes_if(any(ERROR_FILE.match(file) and file not in records for file in run.files))


def chain_intact(run: Run) -> str:
    if run.chain_intact is None:
        raise NotMeasured("the output has no run record")
    return yes_if(run.chain_intact)
