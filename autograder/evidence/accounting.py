"""Compare runs with the scheduler's accounting of their jobs, as exported with `sacct -P`.

The header line of an export names its columns. Lines of a job's steps are skipped. A job that slept
has the right hosts and the right length, but it used no CPU time.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from autograder.codes import FindingCode as Code
from autograder.grouping import grouped
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.notes import Note, make_note
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.slurm_notation import node_names
from autograder.submissions.moments import seconds_of
from autograder.wording import counted

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
    start: float | None = None
    end: float | None = None
    cpus: int | None = None
    gpus: int | None = None
    hosts: frozenset[str] = frozenset()
    cpu_seconds: float | None = None
    raw_id: str = ""  # the number that an array task itself sees


def read_accounting(path: Path, zone: ZoneInfo | None = None) -> dict[str, AccountedJob]:
    """Return the jobs by id. An export without jobs confirms nothing and is a usage error.

    Times without a time zone are in `zone`, or else in that of the grading machine. A scheduler
    that counts no GPUs, or no CPU time, in any of its jobs does not know of them.
    """
    jobs, fault = [], "has no jobs below a first line with column names, which `-n` leaves out"
    try:
        jobs = from_text(path.read_text(encoding="utf-8", errors="replace"), zone)
    except (OSError, ValueError, OverflowError) as error:
        fault = f"cannot be read as sacct's output ({shortened(error, 80)})"
    if not jobs:
        raise click.UsageError(f"{path} {fault}. {EXPORT_IT}")
    if not any(job.gpus for job in jobs):
        jobs = [replace(job, gpus=None) for job in jobs]
    if not any(job.cpu_seconds for job in jobs):  # `sacct -X`, or Slurm without a gatherer
        jobs = [replace(job, cpu_seconds=None) for job in jobs]
    return {job.raw_id: job for job in jobs if job.raw_id} | {job.job_id: job for job in jobs}


def from_text(text: str, zone: ZoneInfo | None) -> list[AccountedJob]:
    lines = [line.split("|") for line in text.splitlines() if line.strip()]
    names = [cell.strip().lower() for cell in lines[0]] if lines else []
    if any(len(line) > len(names) for line in lines):  # sacct prints a job's name with | as it is
        raise ValueError("lines longer than the header: other columns, or two exports in one file")
    rows = (dict(zip(names, line, strict=False)) for line in lines[1:])
    jobs = [from_cells(cells, zone) for cells in rows if JOB.match(cells.get("jobid", ""))]
    return [whole(same) for same in grouped(((j.job_id, j.user), j) for j in jobs).values()]


def whole(same: Sequence[AccountedJob]) -> AccountedJob:
    """Join the lines of a job that was requeued: `sacct -D` lists each start, the first first."""

    def values(name: str) -> list[float]:
        return [value for job in same if (value := getattr(job, name)) is not None]

    return replace(
        same[-1],
        start=min(values("start"), default=None),
        hosts=frozenset[str]().union(*(job.hosts for job in same)),
        cpu_seconds=sum(values("cpu_seconds")) if values("cpu_seconds") else None,
    )


def from_cells(cells: Mapping[str, str], zone: ZoneInfo | None) -> AccountedJob:
    allocated = cells.get("alloctres", "")
    start, end = (moment(cells.get(name), zone) for name in ("start", "end"))
    return AccountedJob(
        job_id=cells["jobid"],
        user=cells.get("user", ""),
        state=cells.get("state", "").split(" ")[0],
        start=start.timestamp() if start else None,
        end=end.timestamp() if end else None,
        cpus=int(cells["ncpus"]) if cells.get("ncpus", "").isdecimal() else None,
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


def moment(text: str | None, zone: ZoneInfo | None) -> datetime | None:
    """Return a time from sacct, which is in seconds since 1970 or in the cluster's own zone."""
    if not text or text in ("Unknown", "None"):
        return None
    if text.isascii() and text.isdigit():
        return datetime.fromtimestamp(float(text), UTC)
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=zone)


# --- runs, compared with their jobs ---------------------------------------------------------------

CLOCK_SLACK = 120.0  # seconds by which the clocks of nodes and of the scheduler may differ
LAPTOP = "laptop"  # the site whose jobs no cluster's accounting knows
# A rank uses one core or, with a GPU, most of one. On a machine with fourteen times more work than
# cores it gets a fourteenth of one. A rank that sleeps uses less than a thousandth.
LEAST_CPU = 0.05
Jobs = Mapping[str, AccountedJob]
Logins = Collection[str | None]  # accounts that may own their jobs; None: unknown
Odd = tuple[Code, str, str]  # what was expected and found


def compare(
    runs: Sequence[Run], jobs: Jobs, logins: Logins, required: bool
) -> dict[int, list[Note]]:
    """Return, by run id, the facts of runs that the scheduler's accounting contradicts.

    A run outside these jobs, as on a student's own laptop, is a doubt only if the class requires
    the accounting. A job's CPU time is compared with the seconds of all runs in the job.
    """
    in_jobs = {run.id: job_of(run, jobs) for run in runs}
    claimed: dict[AccountedJob | None, float] = defaultdict(float)
    for run in runs:
        claimed[in_jobs[run.id]] += rank_seconds(run)
    findings = {}
    for run in runs:
        none = (Code.JOB_NOT_ACCOUNTED, "a job in the accounting", run.job_id or "none")
        job = in_jobs[run.id]
        odd = [*unlike(run, job, claimed[job], logins)] if job else [none] * required
        where = run.rank_lines[:1] or [Where(file, 0) for file in run.files[:1]]
        advice = "submit the output of the job that the scheduler ran"
        findings[run.id] = [
            make_note(code, shortened(expected, 120), shortened(found, 120), where, advice)
            for code, expected, found in odd
        ]
    return findings


def job_of(run: Run, jobs: Jobs) -> AccountedJob | None:
    """Return the run's job. PBS job ids end with a server name, which the accounting omits."""
    named = "" if run.header.site == LAPTOP else run.job_id or ""
    return jobs.get(named) or jobs.get(named.partition(".")[0])


def confirming_job(run: Run, jobs: Jobs, logins: Logins) -> AccountedJob | None:
    """Return the run's job if the accounting has all of it and names the right student.

    The student's account is checked only if the roster has logins. Whether the facts agree is
    checked by `compare`.
    """
    job = job_of(run, jobs)
    if job is None or None in (job.start, job.end, seconds_of(run.header.started)):
        return None
    is_own = job.user in logins or not any(logins)
    return job if is_own and job.hosts and job.state.startswith("COMPLETED") else None


def unlike(run: Run, job: AccountedJob, claimed: float, logins: Logins) -> Iterator[Odd]:
    """Compare a run with its job: `claimed` are the seconds of all ranks in all of its runs."""
    if logins and all(logins) and job.user and job.user not in logins:
        yield Code.OTHER_ACCOUNT, " or ".join(filter(None, logins)), job.user
    if job.cpu_seconds is not None and job.cpu_seconds < LEAST_CPU * claimed:
        expected = f"at least {LEAST_CPU * claimed:.3g} s of CPU time for {claimed:,.4g} s"
        yield Code.JOB_TOO_SMALL, expected, f"{job.cpu_seconds:.3g} s"
    hosts, of_job = (
        sorted({h.split(".")[0] for h in names}) for names in (run.host_names, job.hosts)
    )
    if of_job and not set(hosts) <= set(of_job):
        yield Code.OUTSIDE_JOB, ", ".join(of_job[:8]), ", ".join(hosts[:8])
    size, device = measure.workers(run) or 0, run.header.device or "CPU"
    if "CPU" not in device and job.gpus is not None and size > job.gpus:
        found = f"{counted(size, 'rank')} on {shortened(device, 60)}"
        yield Code.OUTSIDE_JOB, f"at most {counted(job.gpus, 'GPU')}", found
    if job.cpus and len(run.ranks) > job.cpus:
        found = counted(len(run.ranks), "rank")
        yield Code.JOB_TOO_SMALL, f"at most {counted(job.cpus, 'CPU')}", found
    if job.start is None or job.end is None:
        return
    began, took, longest = seconds_of(run.header.started), shortest(run), job.end - job.start
    after = 0.0 if began is None else began - job.start
    if took > longest + 2 or after < -CLOCK_SLACK or after + took > longest + CLOCK_SLACK:
        found = f"{took:.4g} s"
        found += f", from {after:.4g} s after the beginning of the job" if began else ""
        yield Code.OUTSIDE_JOB, f"within the {longest:.4g} s of the job", found


def shortest(run: Run) -> float:
    """Return the run's duration, rounded down: its total time, or else the sum of its epochs."""
    epochs = [epoch.seconds for epoch in run.epochs if epoch.seconds]
    seconds = [run.total_seconds] if run.total_seconds else epochs
    return sum(max(number.value - number.half_width, 0) for number in seconds)


def rank_seconds(run: Run) -> float:
    """Return the rank-seconds spent on training and, in a speed job, on the phases."""
    ranks = measure.workers(run) or max(len(run.ranks), 1)
    seconds = ranks * sum(epoch.seconds.value for epoch in run.epochs if epoch.seconds)
    for event in run.measured("round"):
        alone, silent, together = seconds_of_phases(event) or (0.0, 0.0, 0.0)
        seconds += alone + ranks * (silent + together)
    return seconds
