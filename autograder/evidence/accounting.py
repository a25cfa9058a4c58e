"""Compare runs with the scheduler's accounting of their jobs.

A job that slept has the right hosts and the right length, but it used no CPU time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting_dump import AccountedJob
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.notes import Note
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.wording import counted

CLOCK_SLACK = 120.0  # seconds by which the clocks of nodes and of the scheduler may differ
LAPTOP = "laptop"  # the site whose jobs no cluster's accounting knows
# A rank uses one core or, with a GPU, most of one. On a machine with fourteen times more work than
# cores it gets a fourteenth of one. A rank that sleeps uses less than a thousandth.
LEAST_CPU = 0.05
Logins = Collection[str | None]  # of the students; None: unknown
Odd = tuple[Code, str, str]  # what was expected and found


def compare(
    runs: Sequence[Run], jobs: Mapping[str, AccountedJob], logins: Logins, required: bool
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
        job, odd = in_jobs[run.id], list[Odd]()
        if job:
            odd = [*unlike(run, job), *idle(job, claimed[job]), *other_account(job, logins)]
        elif required:
            odd = [(Code.JOB_NOT_ACCOUNTED, "a job in the accounting", run.job_id or "none")]
        where = run.rank_lines[:1] or [Where(file, 0) for file in run.files[:1]]
        advice = "submit the output of the job that the scheduler ran"
        findings[run.id] = [
            finding(code, shortened(expected, 120), shortened(found, 120), where, advice)
            for code, expected, found in odd
        ]
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
    if job is None or job.start is None or job.end is None or not job.hosts:
        return None
    if any(logins) and job.user not in logins:
        return None
    dated = moment(run.header.started) is not None
    return job if dated and job.state.startswith("COMPLETED") else None


def unlike(run: Run, job: AccountedJob) -> Iterator[Odd]:
    """Compare the run's hosts, ranks and times with those of its job."""
    hosts, of_job = (
        sorted({h.split(".")[0] for h in names}) for names in (run.host_names, job.hosts)
    )
    if of_job and not set(hosts) <= set(of_job):
        yield Code.HOSTS_NOT_OF_JOB, ", ".join(of_job[:8]), ", ".join(hosts[:8])
    size, device = measure.workers(run) or 0, run.header.device or "CPU"
    if "CPU" not in device and job.gpus is not None and size > job.gpus:
        found = f"{counted(size, 'rank')} on {shortened(device, 60)}"
        yield Code.MORE_RANKS_THAN_GPUS, f"at most {counted(job.gpus, 'GPU')}", found
    if job.cpus and len(run.ranks) > job.cpus:
        found = counted(len(run.ranks), "rank")
        yield Code.MORE_RANKS_THAN_CPUS, f"at most {counted(job.cpus, 'CPU')}", found
    began, seconds = moment(run.header.started), run.total_seconds
    if began is None or job.start is None or job.end is None:
        return
    ended = began + (seconds.value if seconds else 0.0)
    longer = ended - began > job.end - job.start + 2
    if longer or began < job.start - CLOCK_SLACK or ended > job.end + CLOCK_SLACK:
        expected = f"between {clock(job.start)} and {clock(job.end)}"
        yield Code.OUTSIDE_JOB_TIME, expected, f"{clock(began)} to {clock(ended)}"


def idle(job: AccountedJob, claimed: float) -> Iterator[Odd]:
    needed = LEAST_CPU * claimed
    if job.cpu_seconds is not None and job.cpu_seconds < needed:
        expected = f"at least {needed:.3g} s of CPU time for {claimed:,.4g} s of all ranks"
        yield Code.JOB_COMPUTED_LITTLE, expected, f"{job.cpu_seconds:.3g} s"


def other_account(job: AccountedJob, logins: Logins) -> Iterator[Odd]:
    if logins and all(logins) and job.user and job.user not in logins:
        yield Code.OTHER_ACCOUNT, " or ".join(filter(None, logins)), job.user


def rank_seconds(run: Run) -> float:
    """Return the rank-seconds spent on training and, in a speed job, on the phases."""
    ranks = measure.workers(run) or max(len(run.ranks), 1)
    seconds = ranks * sum(epoch.seconds.value for epoch in run.epochs if epoch.seconds)
    for event in run.measured("round"):
        alone, silent, together = seconds_of_phases(event) or (0.0, 0.0, 0.0)
        seconds += alone + ranks * (silent + together)
    return seconds


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
