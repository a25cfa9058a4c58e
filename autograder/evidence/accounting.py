"""The scheduler's accounting, as the instructor took it, against what a run says of itself.

Reads `sacct -X -P` (with or without its header line) and `sacct --json`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from autograder.measuring import measure
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.slurm_notation import SACCT_FORMAT, node_names
from autograder.verdict import Finding
from autograder.wording import counted

CLOCK_SLACK = 120.0  # seconds that clocks of nodes and of the scheduler may differ by


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """A job as the scheduler accounts for it; times in seconds since 1970."""

    job_id: str
    user: str = ""
    state: str = ""
    start: float | None = None
    end: float | None = None
    nodes: int | None = None
    cpus: int | None = None
    gpus: int | None = None
    hosts: frozenset[str] = frozenset()


def read_accounting(path: Path) -> dict[str, AccountedJob]:
    """Jobs by id. A dump that cannot be read is a usage error: it would confirm nothing."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        jobs = _from_json(json.loads(text)) if text.lstrip().startswith("{") else _from_text(text)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise click.UsageError(
            f"{path} cannot be read as sacct's output ({shortened(error, 80)}). "
            "Take it with: sacct -a -X -P --format=" + SACCT_FORMAT
        ) from None
    if not jobs:
        raise click.UsageError(f"{path} holds no job. Take it with: sacct -a -X -P …")
    return {job.job_id: job for job in jobs}


def _from_text(text: str) -> list[AccountedJob]:
    lines = [line for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0].split("|")] if lines else []
    if "jobid" in names:
        lines = lines[1:]
    else:
        names = SACCT_FORMAT.split(",")  # the order that docs/grading.md asks for
    jobs = []
    for line in lines:
        cells = dict(zip(names, line.split("|"), strict=False))
        job_id = cells.get("jobid", "")
        if not re.match(r"\d", job_id) or "." in job_id:
            continue  # a job step, or a line that is no job
        gpus = re.search(r"gres/gpu(?:[:=]\w+)?=(\d+)", cells.get("alloctres", ""))
        jobs.append(
            AccountedJob(
                job_id=job_id,
                user=cells.get("user", ""),
                state=cells.get("state", "").split(" ")[0],
                start=_seconds(cells.get("start")),
                end=_seconds(cells.get("end")),
                nodes=_count(cells.get("nnodes")),
                cpus=_count(cells.get("ncpus")),
                gpus=int(gpus[1]) if gpus else None,
                hosts=frozenset(node_names(cells.get("nodelist", ""))),
            )
        )
    return jobs


def _from_json(data: Any) -> list[AccountedJob]:
    jobs = []
    for job in data["jobs"]:
        state = job["state"]["current"] if isinstance(job["state"], dict) else job["state"]
        allocated = {
            (t.get("type"), t.get("name") or ""): t.get("count")
            for t in job.get("tres", {}).get("allocated", [])
        }
        gpus = [n for (kind, name), n in allocated.items() if kind == "gres" and "gpu" in name]
        hosts = frozenset(node_names(job.get("nodes") or ""))
        jobs.append(
            AccountedJob(
                job_id=str(job["job_id"]),
                user=job.get("user") or "",
                state=state[0] if isinstance(state, list) else state,
                start=float(job["time"]["start"]) or None,
                end=float(job["time"]["end"]) or None,
                nodes=allocated.get(("node", "")) or len(hosts) or None,
                cpus=allocated.get(("cpu", "")),
                gpus=max(gpus, default=None),
                hosts=hosts,
            )
        )
    return jobs


def _seconds(text: str | None) -> float | None:
    """sacct's local time, taken as the time zone of the machine that grades, or as it says."""
    if not text or text in ("Unknown", "None"):
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    return datetime.fromisoformat(text).timestamp()


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


# --- against a run --------------------------------------------------------------------------


def compare(run: Run, jobs: Mapping[str, AccountedJob], login: str | None) -> Iterator[Finding]:
    """What the scheduler says differently. A job it does not know is odd, not contradicted."""
    where = tuple(r.where for r in run.ranks[:1] if r.where) or (
        (Where(run.files[0], 0),) if run.files else ()
    )

    def finding(title: str, expected: str, found: str, contradicts: bool = True) -> Finding:
        advice = "hand in the output of the job as the scheduler ran it"
        return Finding(
            "evidence", title, expected, found, where, advice, look=True, contradicts=contradicts
        )

    if not run.job_id:
        yield finding("The run names no job", "a job id", "none", contradicts=False)
        return
    job = jobs.get(run.job_id)
    if job is None:
        title = "The scheduler's accounting does not hold this job"
        yield finding(title, "a job of the accounting", shortened(run.job_id, 40), False)
        return
    hosts = {r.host.split(".")[0] for r in run.ranks if r.host}
    known = {h.split(".")[0] for h in job.hosts}
    if hosts and known and not hosts <= known:
        yield finding(
            "Ranks ran on hosts that the job did not have",
            shortened(", ".join(sorted(known)[:8]), 120),
            shortened(", ".join(sorted(hosts)[:8]), 120),
        )
    started = _started(run)
    seconds = run.total_seconds.value if run.total_seconds else None
    if started is not None and job.start is not None and job.end is not None:
        end = started + (seconds or 0.0)
        if started < job.start - CLOCK_SLACK or end > job.end + CLOCK_SLACK:
            yield finding(
                "The run lies outside the job's time",
                f"between {_clock(job.start)} and {_clock(job.end)}",
                f"{_clock(started)} to {_clock(end)}",
            )
    if seconds is not None and job.start is not None and job.end is not None:
        elapsed = job.end - job.start
        if seconds > elapsed + 2:
            title = "The run says it took longer than its job"
            yield finding(title, f"at most {elapsed:g} s", f"{seconds:.4g} s")
    size = measure.workers(run)
    gpus = "CPU" not in str(run.header.get("device", "CPU"))
    if gpus and size and job.gpus is not None and size > job.gpus:
        title = "More ranks on GPUs than the job had GPUs"
        yield finding(title, f"at most {job.gpus}", counted(size, "rank"))
    if login and job.user and login != job.user:
        title = "The job belongs to another account"
        yield finding(title, shortened(login, 40), shortened(job.user, 40), contradicts=False)


def confirms(run: Run, jobs: Mapping[str, AccountedJob]) -> bool:
    """The accounting holds the job whole. Whether it agrees is what compare() says."""
    job = jobs.get(run.job_id or "")
    if job is None or job.start is None or job.end is None or not job.hosts:
        return False
    return _started(run) is not None and job.state.startswith("COMPLETED")


def _started(run: Run) -> float | None:
    text = run.header.get("started")
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def _clock(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"
