"""The scheduler's accounting, as the instructor took it: jobs and, if they are in it, their steps.

Reads `sacct -P` (with or without its header line, with or without -X) and `sacct --json`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from autograder.safe_text import shortened
from autograder.slurm_notation import SACCT_FORMAT, node_names

GPUS = re.compile(r"(?:gres/gpu(?:[:=]\w+)?|\bngpus)=(\d+)")
LAPTOP = "laptop"  # its queue's partition: what it runs on is not allocated by anybody


@dataclass(frozen=True, slots=True)
class AccountedStep:
    """What one launcher started within a job."""

    name: str  # 0, 1, …, batch, extern
    start: float | None = None
    end: float | None = None
    tasks: int | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """A job as the scheduler accounts for it; times in seconds since 1970."""

    job_id: str
    user: str = ""
    name: str = ""
    state: str = ""
    start: float | None = None
    end: float | None = None
    nodes: int | None = None
    cpus: int | None = None
    gpus: int | None = None
    gpus_counted: bool = False  # by this scheduler at all: some do not count them
    hosts: frozenset[str] = frozenset()
    raw_id: str = ""  # of an array's task: the number that the job itself is told
    steps: tuple[AccountedStep, ...] = field(default=())


def read_accounting(path: Path) -> dict[str, AccountedJob]:
    """Jobs by id. A dump that cannot be read is a usage error: it would confirm nothing."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        jobs = from_json(json.loads(text)) if text.lstrip().startswith("{") else from_text(text)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise click.UsageError(
            f"{path} cannot be read as sacct's output ({shortened(error, 80)}). "
            "Take it with: sacct -a -P --format=" + SACCT_FORMAT
        ) from None
    if not jobs:
        raise click.UsageError(f"{path} holds no job. Take it with: sacct -a -P …")
    counted = any(job.gpus for job in jobs)
    jobs = [replace(job, gpus_counted=counted) for job in jobs]
    return {job.raw_id: job for job in jobs if job.raw_id} | {job.job_id: job for job in jobs}


# --- as a table -----------------------------------------------------------------------------


def from_text(text: str) -> list[AccountedJob]:
    lines = [line for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0].split("|")] if lines else []
    if "jobid" in names:
        lines = lines[1:]
    else:
        names = SACCT_FORMAT.split(",")  # the order that docs/grading.md asks for
    jobs: dict[str, AccountedJob] = {}
    steps: dict[str, list[AccountedStep]] = {}
    for line in lines:
        cells = dict(zip(names, line.split("|"), strict=False))
        job_id, _, step = cells.get("jobid", "").partition(".")
        if not re.match(r"\d", job_id):
            continue  # a line that is no job
        if step:
            steps.setdefault(job_id, []).append(step_of(step, cells))
        else:
            jobs[job_id] = job_of(job_id, cells)
    return [replace(job, steps=tuple(steps.get(id_, ()))) for id_, job in jobs.items()]


def job_of(job_id: str, cells: Mapping[str, str]) -> AccountedJob:
    allocated = cells.get("alloctres", "")
    gpus = [int(number) for number in GPUS.findall(allocated)]
    none = 0 if allocated and cells.get("partition") != LAPTOP else None
    raw = cells.get("jobidraw", "")
    return AccountedJob(
        job_id=job_id,
        user=cells.get("user", ""),
        name=cells.get("jobname", ""),
        state=cells.get("state", "").split(" ")[0],
        start=seconds(cells.get("start")),
        end=seconds(cells.get("end")),
        nodes=count(cells.get("nnodes")),
        cpus=count(cells.get("ncpus")),
        gpus=max(gpus) if gpus else none,
        hosts=frozenset(node_names(cells.get("nodelist", ""))),
        raw_id=raw if raw.isascii() and raw.isdigit() else "",
    )


def step_of(name: str, cells: Mapping[str, str]) -> AccountedStep:
    return AccountedStep(
        name=name,
        start=seconds(cells.get("start")),
        end=seconds(cells.get("end")),
        tasks=count(cells.get("ntasks")),
        state=cells.get("state", "").split(" ")[0],
    )


def seconds(text: str | None) -> float | None:
    """sacct's local time, taken as the time zone of the machine that grades, or as it says."""
    if not text or text in ("Unknown", "None"):
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    return datetime.fromisoformat(text).timestamp()


def count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


# --- as JSON --------------------------------------------------------------------------------


def from_json(data: Any) -> list[AccountedJob]:
    jobs = []
    for job in data["jobs"]:
        allocated = resources(job.get("tres", {}).get("allocated", []))
        gpus = [n for (kind, name), n in allocated.items() if kind == "gres" and "gpu" in name]
        hosts = frozenset(node_names(job.get("nodes") or ""))
        raw = str(job["job_id"])
        array = job.get("array") or {}
        first, task = number(array.get("job_id")), number(array.get("task_id"))
        none = 0 if allocated and job.get("partition") != LAPTOP else None
        jobs.append(
            AccountedJob(
                job_id=f"{first:.0f}_{task:.0f}" if first and task is not None else raw,
                user=job.get("user") or "",
                name=job.get("name") or "",
                state=state_of(job["state"]),
                start=number(job["time"]["start"]) or None,
                end=number(job["time"]["end"]) or None,
                nodes=allocated.get(("node", "")) or len(hosts) or None,
                cpus=allocated.get(("cpu", "")),
                gpus=max(gpus, default=none),
                hosts=hosts,
                raw_id=raw,
                steps=tuple(json_steps(job.get("steps") or ())),
            )
        )
    return jobs


def json_steps(steps: Iterable[Any]) -> Iterator[AccountedStep]:
    for step in steps:
        name = (step.get("step") or {}).get("id")
        times = step.get("time") or {}
        tasks = number((step.get("tasks") or {}).get("count"))
        yield AccountedStep(
            name=str(name).rpartition(".")[2].lower(),
            start=number(times.get("start")) or None,
            end=number(times.get("end")) or None,
            tasks=None if tasks is None else int(tasks),
            state=state_of(step.get("state") or ""),
        )


def resources(allocated: Iterable[Any]) -> dict[tuple[str, str], int]:
    return {(t.get("type") or "", t.get("name") or ""): int(t.get("count") or 0) for t in allocated}


def state_of(state: Any) -> str:
    state = state.get("current", "") if isinstance(state, dict) else state
    return str(state[0] if isinstance(state, list) and state else state or "")


def number(value: Any) -> float | None:
    """A number, as it is or as newer versions write it: {"set": true, "number": 7}."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return float(value) if isinstance(value, int | float) else None
