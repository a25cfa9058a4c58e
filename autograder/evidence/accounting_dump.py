"""Read the scheduler's accounting, as the instructor exported it with `sacct -P`.

The header line names the columns. Lines of a job's steps are skipped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.safe_text import shortened
from autograder.slurm_notation import node_names

EXPORT_IT = "Export it with: cluster accounting --class class.yaml --since DATE"
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
    is_zoned: bool = True  # whether `submitted` does not depend on the zone of a machine
    raw_id: str = ""  # the number that an array task itself sees


def read_accounting(
    path: Path, zone: ZoneInfo | None = None, submit_decides: bool = False
) -> dict[str, AccountedJob]:
    """Return the jobs by id. An export without jobs confirms nothing and is a usage error.

    Times without a time zone are in `zone`, or else in that of the grading machine, unless points
    depend on the time of submission. A scheduler that counts no GPUs, or no CPU time, in any of its
    jobs does not know of them.
    """
    jobs, fault = [], "has no jobs below a first line with column names, which `-n` leaves out"
    try:
        jobs = from_text(path.read_text(encoding="utf-8", errors="replace"), zone)
    except (OSError, ValueError, OverflowError) as error:
        fault = f"cannot be read as sacct's output ({shortened(error, 80)})"
    if not jobs:
        raise click.UsageError(f"{path} {fault}. {EXPORT_IT}")
    if submit_decides and zone is None and not all(job.is_zoned for job in jobs):
        raise SettingsError(
            f"{path} has times without a time zone, and with `by: submit` points depend on them. "
            f"Name the cluster's zone in class.yaml, as in `timezone: Europe/Berlin`. {EXPORT_IT}"
        )
    if not any(job.gpus for job in jobs):
        jobs = [replace(job, gpus=None) for job in jobs]
    if not any(job.cpu_seconds for job in jobs):  # `sacct -X`, or Slurm without a gatherer
        jobs = [replace(job, cpu_seconds=None) for job in jobs]
    return {job.raw_id: job for job in jobs if job.raw_id} | {job.job_id: job for job in jobs}


def from_text(text: str, zone: ZoneInfo | None) -> list[AccountedJob]:
    lines = [line.split("|") for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0]] if lines else []
    rows = (dict(zip(names, line, strict=False)) for line in lines[1:])
    jobs = [from_cells(cells, zone) for cells in rows if JOB.match(cells.get("jobid", ""))]
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
        is_zoned=all(job.is_zoned for job in same),
        start=min(values("start"), default=None),
        hosts=frozenset[str]().union(*(job.hosts for job in same)),
        cpu_seconds=sum(values("cpu_seconds")) if values("cpu_seconds") else None,
    )


def from_cells(cells: Mapping[str, str], zone: ZoneInfo | None) -> AccountedJob:
    allocated = cells.get("alloctres", "")
    submitted, start, end = (moment(cells.get(name), zone) for name in ("submit", "start", "end"))
    return AccountedJob(
        job_id=cells["jobid"],
        user=cells.get("user", ""),
        state=cells.get("state", "").split(" ")[0],
        submitted=submitted.timestamp() if submitted else None,
        start=start.timestamp() if start else None,
        end=end.timestamp() if end else None,
        cpus=count(cells.get("ncpus")),
        gpus=max(map(int, GPUS.findall(allocated)), default=0 if allocated else None),
        hosts=frozenset(node_names(cells.get("nodelist", ""))),
        cpu_seconds=duration(cells.get("totalcpu")),
        is_zoned=submitted is None or submitted.tzinfo is not None,
        raw_id=cells.get("jobidraw", ""),
    )


def duration(text: str | None) -> float | None:
    """Return a Slurm duration such as 1-02:03:04 or 03:04.567 in seconds, or None."""
    found = DURATION.match(text or "")
    if not found:
        return None
    days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + rest


def moment(text: str | None, zone: ZoneInfo | None) -> datetime | None:
    """Return a time from sacct, which is in seconds since 1970 or in the cluster's own zone."""
    if not text or text in ("Unknown", "None"):
        return None
    if text.isascii() and text.isdigit():
        return datetime.fromtimestamp(float(text), UTC)
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=zone)


def count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
