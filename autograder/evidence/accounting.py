"""A run against the accounting of its job: where, with what, when, how it ended, whose it is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from autograder.evidence.accounting_dump import AccountedJob, AccountedStep
from autograder.evidence.said_twice import moment
from autograder.measuring import measure
from autograder.records import Run, Where
from autograder.safe_text import shortened
from autograder.verdict import Finding
from autograder.wording import counted

CLOCK_SLACK = 120.0  # seconds that clocks of nodes and of the scheduler may differ by
# Beside its runs a step holds the start of Python and its frameworks, which takes long on a busy
# file system, the data and the end; a job holds its modules too, and what is prepared.
OF_STEP = (45.0, 0.25)  # seconds, and a share of the runs' own
OF_JOB = (180.0, 0.5)
PREPARES_S = {"04": 900.0}  # lessons whose program writes thousands of files ahead of its run


def compare(
    run: Run, jobs: Mapping[str, AccountedJob], logins: Collection[str | None]
) -> Iterator[Finding]:
    """What the scheduler says differently. A job it does not know is odd, not contradicted."""
    if not run.job_id:
        yield finding(run, "The run names no job", "a job id", "none", contradicts=False)
        return
    job = job_of(run, jobs)
    if job is None:
        title = "The scheduler's accounting does not hold this job"
        yield finding(run, title, "a job of the accounting", shortened(run.job_id, 40), False)
        return
    yield from where_it_ran(run, job)
    yield from what_it_ran_on(run, job)
    yield from when_it_ran(run, job)
    yield from how_it_ended(run, job)
    yield from whose_it_is(run, job, logins)


def job_of(run: Run, jobs: Mapping[str, AccountedJob]) -> AccountedJob | None:
    """The run's job; PBS's ids end in the server's name, which its accounting leaves out."""
    named = run.job_id or ""
    return jobs.get(named) or jobs.get(named.partition(".")[0])


def confirms(run: Run, jobs: Mapping[str, AccountedJob], logins: Collection[str | None]) -> bool:
    """The accounting holds the job whole, and it is the student's where the roster tells whose that
    would be. Whether it agrees is what compare() says."""
    job = job_of(run, jobs)
    if job is None or job.start is None or job.end is None or not job.hosts:
        return False
    if any(logins) and job.user not in logins:
        return False
    return moment(run.header.get("started")) is not None and job.state.startswith("COMPLETED")


def finding(run: Run, title: str, expected: str, found: str, contradicts: bool = True) -> Finding:
    where = tuple(r.where for r in run.ranks[:1] if r.where) or (
        (Where(run.files[0], 0),) if run.files else ()
    )
    advice = "hand in the output of the job as the scheduler ran it"
    return Finding(
        "evidence", title, expected, found, where, advice, look=True, contradicts=contradicts
    )


# --- where, with what -----------------------------------------------------------------------


def where_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    hosts = {r.host.split(".")[0] for r in run.ranks if r.host}
    known = {h.split(".")[0] for h in job.hosts}
    if hosts and known and not hosts <= known:
        yield finding(
            run,
            "Ranks ran on hosts that the job did not have",
            shortened(", ".join(sorted(known)[:8]), 120),
            shortened(", ".join(sorted(hosts)[:8]), 120),
        )
    elif job.nodes is not None and len(hosts) > job.nodes:
        title = "Ranks ran on more nodes than the job had"
        yield finding(run, title, f"at most {job.nodes}", f"{len(hosts)} hosts")


def what_it_ran_on(run: Run, job: AccountedJob) -> Iterator[Finding]:
    size = measure.workers(run)
    on_gpus = "CPU" not in str(run.header.get("device") or "CPU")
    if on_gpus and size and job.gpus is not None and size > job.gpus:
        if job.gpus:
            title = "More ranks on GPUs than the job had GPUs"
            yield finding(run, title, f"at most {job.gpus}", counted(size, "rank"))
        else:  # a scheduler that counts no GPUs at all may only not be told of them
            title, device = "The run names a GPU, and its job had none", run.header["device"]
            yield finding(run, title, "no GPU", shortened(str(device), 60), job.gpus_counted)
    ranks = len(run.ranks)
    if job.cpus and ranks > job.cpus:
        title = "More ranks than the job had CPUs"
        yield finding(run, title, f"at most {job.cpus}", counted(ranks, "rank"), False)
    step = step_of(run, job)
    by_srun = run.header.get("launcher") == "srun"
    if step is not None and step.tasks and by_srun and ranks > step.tasks:
        title = "More ranks than tasks were started"
        yield finding(run, title, counted(step.tasks, "task"), counted(ranks, "rank"))


# --- when -----------------------------------------------------------------------------------


def when_it_ran(run: Run, job: AccountedJob) -> Iterator[Finding]:
    started = moment(run.header.get("started"))
    said = run.total_seconds.value if run.total_seconds else None
    if job.start is None or job.end is None:
        return
    if started is not None:
        end = started + (said or 0.0)
        if started < job.start - CLOCK_SLACK or end > job.end + CLOCK_SLACK:
            yield finding(
                run,
                "The run lies outside the job's time",
                f"between {clock(job.start)} and {clock(job.end)}",
                f"{clock(started)} to {clock(end)}",
            )
    elapsed = job.end - job.start
    if said is not None and said > elapsed + 2:
        title = "The run says it took longer than its job"
        yield finding(run, title, f"at most {elapsed:g} s", f"{said:.4g} s")


def too_long(runs: Sequence[Run], jobs: Mapping[str, AccountedJob]) -> dict[int, Finding]:
    """By run: its step, or without one its job, took far longer than all that ran in it. Seconds
    that were made less leave such a gap."""
    groups: dict[tuple[str, str], list[tuple[Run, AccountedJob, AccountedStep | None]]] = {}
    for run in runs:
        job = job_of(run, jobs)
        if job is not None:
            step = step_of(run, job)
            groups.setdefault((job.job_id, step.name if step else ""), []).append((run, job, step))
    found: dict[int, Finding] = {}
    for members in groups.values():
        first, job, step = members[0]
        began, ended = (step.start, step.end) if step else (job.start, job.end)
        spans = [span(run, ended) for run, _, _ in members]
        known = [each for each in spans if each is not None]
        if began is None or ended is None or len(known) < len(spans):
            continue  # something ran there of which nobody says when
        seconds, share = OF_STEP if step else OF_JOB
        covered = union(known)
        room = seconds + share * covered + PREPARES_S.get(str(first.header.get("lesson")), 0.0)
        if ended - began - covered > room:
            told = finding(
                first,
                f"The {'step' if step else 'job'} took far longer than the runs in it",
                f"about {ended - began:,.0f} s, of which at most {room:,.0f} s for the start of "
                "programs, data and evaluation",
                f"{covered:,.4g} s in {counted(len(members), 'run')}",
                contradicts=False,
            )
            found |= {id(run): told for run, _, _ in members}
    return found


STEP_SLACK = 10.0  # seconds: a step's times are whole, and nodes' clocks are nearly alike


def step_of(run: Run, job: AccountedJob) -> AccountedStep | None:
    """The launched step that holds the run's time, the shortest if there are several."""
    said = span(run)
    if said is None:
        return None
    holding = [
        (step.end - step.start, step)
        for step in job.steps
        if step.name.isdigit() and step.start is not None and step.end is not None
        and step.start - STEP_SLACK <= said[0] and said[1] <= step.end + STEP_SLACK
    ]  # fmt: skip
    return min(holding, key=lambda found: found[0])[1] if holding else None


def span(run: Run, until: float | None = None) -> tuple[float, float] | None:
    """From the record's first line to its last, in seconds since 1970; of a run without an end,
    up to that of its job."""
    if run.began_ms is None:
        return None
    began = run.began_ms / 1000
    ended = until if run.ended_ms is None else run.ended_ms / 1000
    return None if ended is None else (began, max(began, ended))


def union(spans: Sequence[tuple[float, float]]) -> float:
    total, reached = 0.0, float("-inf")
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, reached))
        reached = max(reached, last)
    return total


# --- how it ended, whose it is --------------------------------------------------------------

BAD_STATES = (
    *("FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"),
    "PREEMPTED",
)


def how_it_ended(run: Run, job: AccountedJob) -> Iterator[Finding]:
    """Of a job that failed later, the step of a run that ended well says so."""
    step = step_of(run, job)
    state = step.state if step is not None and step.state else job.state
    if run.outcome == "completed" and state.startswith(BAD_STATES):
        yield finding(
            run,
            "The job did not end well, and the record says success",
            "COMPLETED",
            shortened(state, 40),
            contradicts=False,
        )


def whose_it_is(run: Run, job: AccountedJob, logins: Collection[str | None]) -> Iterator[Finding]:
    known = [login for login in logins if login]
    if known and all(logins) and job.user and job.user not in known:
        title = "The job belongs to another account"
        expected = shortened(" or ".join(known), 80)
        told = finding(run, title, expected, "somebody else's", False)
        yield told
        yield replace(told, found=shortened(job.user, 40), look=False, private=True)  # whose
    printed = run.beside.job.get("job", "").partition(" ")[2].strip()
    if printed and job.name and printed != job.name:
        title = "The job has another name than its output says"
        yield finding(run, title, shortened(job.name, 60), shortened(printed, 60), False)


def clock(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"
