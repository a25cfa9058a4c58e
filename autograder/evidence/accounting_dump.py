"""Read the scheduler's accounting, as the instructor exported it: jobs and, if present, steps.

The format is the output of `sacct -P`, with or without `-X`. The header line names the columns.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click

from autograder.safe_text import shortened
from autograder.slurm_notation import SACCT_FORMAT, node_names

GPUS = re.compile(r"(?:gres/gpu(?:[:=]\w+)?|\bngpus)=(\d+)")
DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,9})?)\Z")
SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTP])?\Z")


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """A job in the scheduler's accounting, or one of its steps: a program started by a launcher.

    Times are in seconds since 1970.
    """

    job_id: str
    step: str = ""  # 0, 1, …, batch, extern; empty for the job itself
    user: str = ""
    state: str = ""
    start: float | None = None
    end: float | None = None
    nodes: int | None = None
    cpus: int | None = None
    tasks: int | None = None
    gpus: int | None = None
    gpus_counted: bool = False  # whether this scheduler counts GPUs at all
    hosts: frozenset[str] = frozenset()
    cpu_seconds: float | None = None  # None: this scheduler does not count them
    memory: float | None = None  # bytes of its largest process
    raw_id: str = ""  # the number that an array task itself sees
    steps: tuple["AccountedJob", ...] = ()

    @property
    def duration(self) -> float | None:
        return None if self.start is None or self.end is None else self.end - self.start


def read_accounting(path: Path) -> dict[str, AccountedJob]:
    """Return the jobs by id. An export without jobs confirms nothing and is a usage error."""
    take_it = f"Export it with: sacct -a -P --format={SACCT_FORMAT}"
    try:
        jobs = from_text(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, OverflowError) as error:
        raise click.UsageError(
            f"{path} cannot be read as sacct's output ({shortened(error, 80)}). {take_it}"
        ) from None
    if not jobs:
        raise click.UsageError(
            f"{path} has no jobs below a first line with column names, which `-n` leaves out. "
            + take_it
        )
    counted = any(job.gpus for job in jobs)
    jobs = [replace(job, gpus_counted=counted) for job in jobs]
    if not any(job.cpu_seconds for job in jobs):  # `sacct -X`, or Slurm without a gatherer
        jobs = [replace(job, cpu_seconds=None) for job in jobs]
    return {job.raw_id: job for job in jobs if job.raw_id} | {job.job_id: job for job in jobs}


def from_text(text: str) -> list[AccountedJob]:
    lines = [line.split("|") for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0]] if lines else []
    jobs: dict[str, AccountedJob] = {}
    steps: dict[str, list[AccountedJob]] = defaultdict(list)
    for line in lines[1:]:
        cells = dict(zip(names, line, strict=False))
        if not re.match(r"\d", cells.get("jobid", "")):
            continue  # a line that is not a job
        one = from_cells(cells)
        if one.step:
            steps[one.job_id].append(one)
        else:
            jobs[one.job_id] = one
    return [replace(job, steps=tuple(steps[job.job_id])) for job in jobs.values()]


def from_cells(cells: Mapping[str, str]) -> AccountedJob:
    job_id, _, step = cells.get("jobid", "").partition(".")
    allocated = cells.get("alloctres", "")
    no_gpus = 0 if allocated else None
    raw = cells.get("jobidraw", "")
    return AccountedJob(
        job_id=job_id,
        step=step,
        user=cells.get("user", ""),
        state=cells.get("state", "").split(" ")[0],
        start=seconds(cells.get("start")),
        end=seconds(cells.get("end")),
        nodes=count(cells.get("nnodes")),
        cpus=count(cells.get("ncpus")),
        tasks=count(cells.get("ntasks")),
        gpus=max(map(int, GPUS.findall(allocated)), default=no_gpus),
        hosts=frozenset() if step else frozenset(node_names(cells.get("nodelist", ""))),
        cpu_seconds=duration(cells.get("totalcpu")),
        memory=size(cells.get("maxrss")),
        raw_id=raw if raw.isascii() and raw.isdigit() else "",
    )


def duration(text: str | None) -> float | None:
    """Return a Slurm duration such as 1-02:03:04 or 03:04.567 in seconds, or None."""
    found = DURATION.match(text or "")
    if not found:
        return None
    days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + rest


def size(text: str | None) -> float | None:
    """Return a Slurm size such as 1234K or 1.5G in bytes, or None."""
    found = SIZE.match(text or "")
    return float(found[1]) * 1024 ** (" KMGTP".index(found[2] or " ")) if found else None


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
