"""Compare runs with the scheduler's accounting of their jobs.

A job that slept has the right hosts and the right length, but it used no CPU time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting_dump import AccountedJob
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.notes import Note, make_note
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
    is_dated = moment(run.header.started) is not None
    return job if is_dated and job.state.startswith("COMPLETED") else None


def last_submit(runs: Sequence[Run], jobs: Mapping[str, AccountedJob], logins: Logins) -> str:
    """Return when the last of the runs' jobs was submitted.

    It is empty if the accounting lacks one of the jobs, or one belongs to another account.
    """
    known = [job_of(run, jobs) for run in runs]
    own = [job for job in known if job and (not any(logins) or job.user in logins)]
    times = [job.submitted for job in own if job.submitted is not None]
    if not times or len(times) < len(known):
        return ""
    return datetime.fromtimestamp(max(times), UTC).isoformat()


def unlike(run: Run, job: AccountedJob, claimed: float, logins: Logins) -> Iterator[Odd]:
    """Compare a run with its job: `claimed` are the seconds of all ranks in all of its runs."""
    if logins and all(logins) and job.user and job.user not in logins:
        yield Code.OTHER_ACCOUNT, " or ".join(filter(None, logins)), job.user
    if job.cpu_seconds is not None and job.cpu_seconds < LEAST_CPU * claimed:
        expected = f"at least {LEAST_CPU * claimed:.3g} s of CPU time for {claimed:,.4g} s"
        yield Code.JOB_COMPUTED_LITTLE, expected, f"{job.cpu_seconds:.3g} s"
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
    if job.start is None or job.end is None:
        return
    began, took, longest = moment(run.header.started), shortest(run), job.end - job.start
    after = 0.0 if began is None else began - job.start
    if took > longest + 2 or after < -CLOCK_SLACK or after + took > longest + CLOCK_SLACK:
        found = f"{took:.4g} s"
        found += f", from {after:.4g} s after the beginning of the job" if began else ""
        yield Code.OUTSIDE_JOB_TIME, f"within the {longest:.4g} s of the job", found


def shortest(run: Run) -> float:
    """Return the least time that the run claims to have taken: in all, or in its epochs."""
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


def moment(text: str | None) -> float | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time.timestamp() if time.tzinfo else None
