"""Read the scheduler's accounting, as the instructor exported it with `sacct -P`.

The header line names the columns. Lines of a job's steps are skipped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click

from autograder.grouping import grouped
from autograder.safe_text import shortened
from autograder.slurm_notation import SACCT_FORMAT, node_names

JOB = re.compile(r"\d[^.]*\Z")  # not 1234.0, which is a step
GPUS = re.compile(r"(?:gres/gpu(?:[:=]\w+)?|\bngpus)=(\d+)")
DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,9})?)\Z")


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """A job in the scheduler's accounting. Times are in seconds since 1970."""

    job_id: str
    user: str = ""
    state: str = ""
    submitted: float | None = None
    start: float | None = None
    end: float | None = None
    cpus: int | None = None
    gpus: int | None = None
    hosts: frozenset[str] = frozenset()
    cpu_seconds: float | None = None
    raw_id: str = ""  # the number that an array task itself sees


def read_accounting(path: Path) -> dict[str, AccountedJob]:
    """Return the jobs by id. An export without jobs confirms nothing and is a usage error.

    A scheduler that counts no GPUs, or no CPU time, in any of its jobs does not know of them.
    """
    jobs, fault = [], "has no jobs below a first line with column names, which `-n` leaves out"
    try:
        jobs = from_text(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, OverflowError) as error:
        fault = f"cannot be read as sacct's output ({shortened(error, 80)})"
    if not jobs:
        take_it = f"Export it with: sacct -a -P --format={SACCT_FORMAT}"
        raise click.UsageError(f"{path} {fault}. {take_it}")
    if not any(job.gpus for job in jobs):
        jobs = [replace(job, gpus=None) for job in jobs]
    if not any(job.cpu_seconds for job in jobs):  # `sacct -X`, or Slurm without a gatherer
        jobs = [replace(job, cpu_seconds=None) for job in jobs]
    return {job.raw_id: job for job in jobs if job.raw_id} | {job.job_id: job for job in jobs}


def from_text(text: str) -> list[AccountedJob]:
    lines = [line.split("|") for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0]] if lines else []
    rows = (dict(zip(names, line, strict=False)) for line in lines[1:])
    jobs = [from_cells(cells) for cells in rows if JOB.match(cells.get("jobid", ""))]
    return [whole(same) for same in grouped(((j.job_id, j.user), j) for j in jobs).values()]


def whole(same: Sequence[AccountedJob]) -> AccountedJob:
    """Join the lines of a job that was requeued. `sacct -D` lists each start, the first one first.

    A requeue changes the time of submission, so the first one counts.
    """

    def values(name: str) -> list[float]:
        return [value for job in same if (value := getattr(job, name)) is not None]

    return replace(
        same[-1],
        submitted=min(values("submitted"), default=None),
        start=min(values("start"), default=None),
        hosts=frozenset[str]().union(*(job.hosts for job in same)),
        cpu_seconds=sum(values("cpu_seconds")) if values("cpu_seconds") else None,
    )


def from_cells(cells: Mapping[str, str]) -> AccountedJob:
    allocated = cells.get("alloctres", "")
    return AccountedJob(
        job_id=cells["jobid"],
        user=cells.get("user", ""),
        state=cells.get("state", "").split(" ")[0],
        submitted=seconds(cells.get("submit")),
        start=seconds(cells.get("start")),
        end=seconds(cells.get("end")),
        cpus=count(cells.get("ncpus")),
        gpus=max(map(int, GPUS.findall(allocated)), default=0 if allocated else None),
        hosts=frozenset(node_names(cells.get("nodelist", ""))),
        cpu_seconds=duration(cells.get("totalcpu")),
        raw_id=cells.get("jobidraw", ""),
    )


def duration(text: str | None) -> float | None:
    """Return a Slurm duration such as 1-02:03:04 or 03:04.567 in seconds, or None."""
    found = DURATION.match(text or "")
    if not found:
        return None
    days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + rest


def seconds(text: str | None) -> float | None:
    """Return a time from sacct in seconds since 1970.

    A time without a time zone is taken to be in the zone of the grading machine.
    """
    if not text or text in ("Unknown", "None"):
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    return datetime.fromisoformat(text).timestamp()


def count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
