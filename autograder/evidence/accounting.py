"""Compare a run with its job in the accounting: place, resources, times, end and account."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting_dump import AccountedJob, AccountedStep
from autograder.evidence.findings import finding
from autograder.evidence.said_twice import moment
from autograder.measuring import measure
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

CLOCK_SLACK = 120.0  # seconds by which the clocks of nodes and of the scheduler may differ


def compare(
    run: Run, jobs: Mapping[str, AccountedJob], logins: Collection[str | None]
) -> Iterator[Finding]:
    """Yield the facts of a run that the scheduler's accounting contradicts.

    A job that is missing from the accounting is odd, but it is not a contradiction.
    """
    if not run.job_id:
        yield job_finding(run, Code.NO_JOB_NAMED, "a job id", "none")
        return
    job = job_of(run, jobs)
    if job is None:
        expected = "a job in the accounting"
        yield job_finding(run, Code.JOB_NOT_ACCOUNTED, expected, shortened(run.job_id, 40))
        return
    yield from where_it_ran(run, job)
    yield from what_it_ran_on(run, job)
    yield from when_it_ran(run, job)
    yield from how_it_ended(run, job)
    yield from whose_it_is(run, job, logins)


def job_of(run: Run, jobs: Mapping[str, AccountedJob]) -> AccountedJob | None:
    """Return the run's job. PBS job ids end with a server name, which the accounting omits."""
    named = run.job_id or ""
    return jobs.get(named) or jobs.get(named.partition(".")[0])


def confirming_job(
    run: Run, jobs: Mapping[str, AccountedJob], logins: Collection[str | None]
) -> AccountedJob | None:
    """Return the run's job if the accounting has all of it and names the right student.

    The student's account is checked only if the roster has logins. Whether the facts agree is
    checked by `compare`.
    """
    job = job_of(run, jobs)
    if job is None or job.start is None or job.end is None or not job.hosts:
        return None
    if any(logins) and job.user not in logins:
        return None
    dated = moment(run.header.started) is not None
    return job if dated and job.state.startswith("COMPLETED") else None


def job_finding(run: Run, code: Code, expected: str, found: str, **fields: str) -> Finding:
    """Return a finding about the run's job, located at the beginning of the run."""
    where = run.rank_lines[:1] or [Where(file, 0) for file in run.files[:1]]
    advice = "submit the output of the job that the scheduler ran"
    return finding(code, expected, found, where, advice, **fields)


# --- place and resources --------------------------------------------------------------------


def where_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    hosts = {r.host.split(".")[0] for r in run.ranks if r.host}
    of_the_job = {h.split(".")[0] for h in job.hosts}
    if hosts and of_the_job and not hosts <= of_the_job:
        yield job_finding(
            run,
            Code.HOSTS_NOT_OF_JOB,
            shortened(", ".join(sorted(of_the_job)[:8]), 120),
            shortened(", ".join(sorted(hosts)[:8]), 120),
        )
    elif job.nodes is not None and len(hosts) > job.nodes:
        yield job_finding(
            run, Code.MORE_NODES_THAN_JOB, f"at most {job.nodes}", f"{len(hosts)} hosts"
        )


def what_it_ran_on(run: Run, job: AccountedJob) -> Iterator[Finding]:
    size = measure.workers(run)
    device = run.header.device or "CPU"
    on_gpus = "CPU" not in device
    if on_gpus and size and job.gpus is not None and size > job.gpus:
        if job.gpus:
            expected, found = f"at most {job.gpus}", counted(size, "rank")
            yield job_finding(run, Code.MORE_RANKS_THAN_GPUS, expected, found)
        else:  # a scheduler that never counts GPUs may not know of them
            code = Code.JOB_WITHOUT_GPU if job.gpus_counted else Code.JOB_GPUS_NOT_COUNTED
            yield job_finding(run, code, "no GPU", shortened(device, 60))
    ranks = len(run.ranks)
    if job.cpus and ranks > job.cpus:
        expected, found = f"at most {job.cpus}", counted(ranks, "rank")
        yield job_finding(run, Code.MORE_RANKS_THAN_CPUS, expected, found)
    step = step_of(run, job)
    by_srun = run.header.launcher == "srun"
    if step is not None and step.tasks and by_srun and ranks > step.tasks:
        expected, found = counted(step.tasks, "task"), counted(ranks, "rank")
        yield job_finding(run, Code.MORE_RANKS_THAN_TASKS, expected, found)


# --- time -----------------------------------------------------------------------------------


def when_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    started = moment(run.header.started)
    lasted = run.total_seconds.value if run.total_seconds else None
    if job.start is None or job.end is None:
        return
    if started is not None:
        end = started + (lasted or 0.0)
        if started < job.start - CLOCK_SLACK or end > job.end + CLOCK_SLACK:
            yield job_finding(
                run,
                Code.OUTSIDE_JOB_TIME,
                f"between {clock(job.start)} and {clock(job.end)}",
                f"{clock(started)} to {clock(end)}",
            )
    elapsed = job.end - job.start
    if lasted is not None and lasted > elapsed + 2:
        yield job_finding(run, Code.LONGER_THAN_JOB, f"at most {elapsed:g} s", f"{lasted:.4g} s")


# Seconds, because a step's times are whole seconds; the nodes' clocks nearly agree.
STEP_SLACK = 10.0


def step_of(run: Run, job: AccountedJob) -> AccountedStep | None:
    """Return the launched step during which the run took place; if several match, the shortest."""
    lasted = span(run)
    if lasted is None:
        return None
    holding = [
        (step.end - step.start, step)
        for step in job.steps
        if step.name.isdigit() and step.start is not None and step.end is not None
        and step.start - STEP_SLACK <= lasted[0] and lasted[1] <= step.end + STEP_SLACK
    ]  # fmt: skip
    return min(holding, key=lambda pair: pair[0])[1] if holding else None


def span(run: Run, until: float | None = None) -> tuple[float, float] | None:
    """Return the times of the record's first and last line, in seconds since 1970.

    A run without an end extends to the end of its job.
    """
    if run.began_ms is None:
        return None
    began = run.began_ms / 1000
    ended = until if run.ended_ms is None else run.ended_ms / 1000
    return None if ended is None else (began, max(began, ended))


# --- end and account -------------------------------------------------------------------------

BAD_STATES = (
    *("FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"),
    "PREEMPTED",
)


def how_it_ended(run: Run, job: AccountedJob) -> Iterator[Finding]:
    """Compare the end of a successful run with the end of its job.

    If the job failed after the run, the run's step shows whether the run itself failed.
    """
    step = step_of(run, job)
    state = step.state if step is not None and step.state else job.state
    if state.startswith(BAD_STATES):
        yield job_finding(run, Code.JOB_ENDED_BADLY, "COMPLETED", shortened(state, 40))


def whose_it_is(run: Run, job: AccountedJob, logins: Collection[str | None]) -> Iterator[Finding]:
    own_logins = [login for login in logins if login]
    if own_logins and all(logins) and job.user and job.user not in own_logins:
        expected = shortened(" or ".join(own_logins), 80)
        yield job_finding(run, Code.OTHER_ACCOUNT, expected, "somebody else's")
        yield job_finding(run, Code.ACCOUNT_NAME, expected, shortened(job.user, 40))
    printed = run.beside.job.get("job", "").partition(" ")[2].strip()
    if printed and job.name and printed != job.name:
        expected, found = shortened(job.name, 60), shortened(printed, 60)
        yield job_finding(run, Code.OTHER_JOB_NAME, expected, found)


def clock(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"
