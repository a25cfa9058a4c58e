"""Compare runs with the scheduler's accounting of their jobs.

A job that slept has the right hosts and the right length, but it used no CPU time. Energy is not
compared, because an idle node uses most of the energy of a busy one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting_dump import AccountedJob
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

CLOCK_SLACK = 120.0  # seconds by which the clocks of nodes and of the scheduler may differ
LAPTOP = "laptop"  # the site whose jobs no cluster's accounting knows
# Seconds, because a step's times are whole seconds; the nodes' clocks nearly agree.
STEP_SLACK = 10.0
# Not FAILED: PyTorch may crash after the last line of a complete record.
BAD_STATES = (
    *("TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"),
    "PREEMPTED",
)
# A rank uses one core or, with a GPU, most of one. On a machine with fourteen times more work than
# cores it gets a fourteenth of one. A rank that sleeps uses less than a thousandth.
LEAST_CPU = 0.05
SHORTEST_S = 60.0  # memory is sampled every 30 s at most sites, so shorter steps show too little
LEAST_BYTES = 20e6  # what Python with NumPy needs
Logins = Collection[str | None]  # of the students; None: unknown


def compare(
    runs: Sequence[Run], jobs: Mapping[str, AccountedJob], logins: Logins, required: bool
) -> dict[int, list[Finding]]:
    """Return, by run id, the facts of runs that the scheduler's accounting contradicts.

    A run outside these jobs, as on a student's own laptop, is a doubt only if the class requires
    the accounting. A job's total
    work and the duration of its steps are compared with the totals of all runs in the job.
    """
    findings: dict[int, list[Finding]] = defaultdict(list)
    in_jobs: dict[AccountedJob, list[Run]] = defaultdict(list)
    for run in runs:
        job = job_of(run, jobs)
        if job is None and required:
            expected, found = "a job in the accounting", shortened(run.job_id or "none", 40)
            findings[run.id].append(job_finding(run, Code.JOB_NOT_ACCOUNTED, expected, found))
        elif job is not None:
            in_jobs[job].append(run)
            for check in (where_it_ran, what_it_ran_on, when_it_ran, how_it_ended):
                findings[run.id] += check(run, job)
            findings[run.id] += whose_it_is(run, job, logins)
    for job, members in in_jobs.items():
        claimed = sum(map(rank_seconds, members))
        for run in members:
            if less := idle(run, job, claimed) or small(run, job):
                findings[run.id].append(less)
    return findings


def job_of(run: Run, jobs: Mapping[str, AccountedJob]) -> AccountedJob | None:
    """Return the run's job. PBS job ids end with a server name, which the accounting omits."""
    named = "" if run.header.site == LAPTOP else run.job_id or ""
    return jobs.get(named) or jobs.get(named.partition(".")[0])


def confirming_job(
    run: Run, jobs: Mapping[str, AccountedJob], logins: Logins
) -> AccountedJob | None:
    """Return the run's job if the accounting has all of it and names the right student.

    The student's account is checked only if the roster has logins. Whether the facts agree is
    checked by `compare`.
    """
    job = job_of(run, jobs)
    if job is None or job.duration is None or not job.hosts:
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


def where_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    hosts = {host.split(".")[0] for host in run.host_names}
    of_the_job = {host.split(".")[0] for host in job.hosts}
    if of_the_job and not hosts <= of_the_job:
        expected, found = (
            shortened(", ".join(sorted(names)[:8]), 120) for names in (of_the_job, hosts)
        )
        yield job_finding(run, Code.HOSTS_NOT_OF_JOB, expected, found)
    elif job.nodes is not None and len(hosts) > job.nodes:
        expected, found = f"at most {job.nodes}", f"{len(hosts)} hosts"
        yield job_finding(run, Code.MORE_NODES_THAN_JOB, expected, found)


def what_it_ran_on(run: Run, job: AccountedJob) -> Iterator[Finding]:
    size, ranks = measure.workers(run) or 0, len(run.ranks)
    device = run.header.device or "CPU"
    if "CPU" not in device and job.gpus is not None and size > job.gpus:
        if job.gpus:
            expected, found = f"at most {job.gpus}", counted(size, "rank")
            yield job_finding(run, Code.MORE_RANKS_THAN_GPUS, expected, found)
        else:  # a scheduler that never counts GPUs may not know of them
            code = Code.JOB_WITHOUT_GPU if job.gpus_counted else Code.JOB_GPUS_NOT_COUNTED
            yield job_finding(run, code, "no GPU", shortened(device, 60))
    if job.cpus and ranks > job.cpus:
        expected, found = f"at most {job.cpus}", counted(ranks, "rank")
        yield job_finding(run, Code.MORE_RANKS_THAN_CPUS, expected, found)
    step = step_of(run, job)
    if step and step.tasks and ranks > step.tasks and run.header.launcher == "srun":
        expected, found = counted(step.tasks, "task"), counted(ranks, "rank")
        yield job_finding(run, Code.MORE_RANKS_THAN_TASKS, expected, found)


def when_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    started = moment(run.header.started)
    seconds = run.total_seconds.value if run.total_seconds else None
    if job.start is None or job.end is None:
        return
    if started is not None:
        end = started + (seconds or 0.0)
        if started < job.start - CLOCK_SLACK or end > job.end + CLOCK_SLACK:
            expected = f"between {clock(job.start)} and {clock(job.end)}"
            found = f"{clock(started)} to {clock(end)}"
            yield job_finding(run, Code.OUTSIDE_JOB_TIME, expected, found)
    elapsed = job.end - job.start
    if seconds is not None and seconds > elapsed + 2:
        expected, found = f"at most {elapsed:g} s", f"{seconds:.4g} s"
        yield job_finding(run, Code.LONGER_THAN_JOB, expected, found)


def step_of(run: Run, job: AccountedJob) -> AccountedJob | None:
    """Return the launched step during which the run took place; if several match, the shortest."""
    ran = span(run)
    steps = [
        step for step in job.steps
        if ran and step.step.isdigit() and step.start is not None and step.end is not None
        and step.start - STEP_SLACK <= ran[0] and ran[1] <= step.end + STEP_SLACK
    ]  # fmt: skip
    return min(steps, key=lambda step: step.duration or 0.0, default=None)


def span(run: Run, until: float | None = None) -> tuple[float, float] | None:
    """Return the times of the record's first and last line, in seconds since 1970.

    A run without an end extends to the end of its job.
    """
    ended = until if run.ended_ms is None else run.ended_ms / 1000
    if run.began_ms is None or ended is None:
        return None
    return run.began_ms / 1000, max(run.began_ms / 1000, ended)


def how_it_ended(run: Run, job: AccountedJob) -> Iterator[Finding]:
    """Compare the end of a successful run with the end of its job.

    If the job failed after the run, the run's step shows whether the run itself failed.
    """
    step = step_of(run, job)
    state = step.state if step and step.state else job.state
    if state.startswith(BAD_STATES):
        yield job_finding(run, Code.JOB_ENDED_BADLY, "COMPLETED", shortened(state, 40))


def whose_it_is(run: Run, job: AccountedJob, logins: Logins) -> Iterator[Finding]:
    if logins and all(logins) and job.user and job.user not in logins:
        expected = shortened(" or ".join(filter(None, logins)), 80)
        yield job_finding(run, Code.OTHER_ACCOUNT, expected, "somebody else's")
        yield job_finding(run, Code.ACCOUNT_NAME, expected, shortened(job.user, 40))


def moment(text: object) -> float | None:
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo else None


def clock(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"


# --- the work of a job and all of its runs ------------------------------------------------------


def rank_seconds(run: Run) -> float:
    """Return the rank-seconds spent on training and, in a speed job, on the phases."""
    ranks = measure.workers(run) or max(len(run.ranks), 1)
    seconds = ranks * sum(epoch.seconds.value for epoch in run.epochs if epoch.seconds)
    for event in run.measured("round"):
        alone, silent, together = seconds_of_phases(event) or (0.0, 0.0, 0.0)
        seconds += alone + ranks * (silent + together)
    return seconds


def idle(run: Run, job: AccountedJob, claimed: float) -> Finding | None:
    needed = LEAST_CPU * claimed
    if job.cpu_seconds is None or job.cpu_seconds >= needed:
        return None
    expected = f"at least {needed:.3g} s of CPU time for {claimed:,.4g} s of all ranks"
    return job_finding(run, Code.JOB_COMPUTED_LITTLE, expected, f"{job.cpu_seconds:.3g} s")


def small(run: Run, job: AccountedJob) -> Finding | None:
    """Compare the memory of the job's largest process with the size of the 32-bit parameters.

    The ranks may split the parameters, so the process needs to hold only one rank's share. If the
    run's own step is known, the job's other steps, such as its shell, do not count.
    """
    own = step_of(run, job)
    steps = [own] if own else job.steps
    long = [step for step in steps if (step.duration or 0.0) >= SHORTEST_S]
    used = max((step.memory or 0.0 for step in long), default=0.0)
    parameters = 4 * (run.header.params or 0) / (measure.workers(run) or 1)
    needed = max(LEAST_BYTES, parameters)
    if not used or used >= needed:
        return None
    expected, found = f"at least {needed / 1e6:,.0f} MB of memory", f"{used / 1e6:.1f} MB"
    return job_finding(run, Code.JOB_COMPUTED_LITTLE, expected, found)
