"""Compare all runs of a job together with the time, the CPU time and the memory of their job.

A job that slept has the right hosts and the right length, but it used no CPU time. Energy is not
compared, because an idle node uses most of the energy of a busy one.
"""

from collections.abc import Mapping, Sequence

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting import job_finding, job_of, span, step_of
from autograder.evidence.accounting_dump import AccountedJob, AccountedStep
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.records import Run
from autograder.verdict import Finding
from autograder.wording import counted

# Besides its runs, a step includes loading the data, ending, and starting Python and its
# frameworks, which takes long on a busy file system. A job also includes its modules and
# preparations.
OF_STEP = (45.0, 0.25)  # seconds, plus a fraction of the runs' own seconds
OF_JOB = (180.0, 0.5)
PREPARES_S = {"04": 900.0}  # lessons whose program writes thousands of files before its run
# A rank uses one core or, with a GPU, most of one. On a machine with fourteen times more work than
# cores it gets a fourteenth of one. A rank that sleeps uses less than a thousandth.
LEAST_CPU = 0.05
SHORTEST_S = 60.0  # memory is sampled every 30 s at most sites, so shorter steps show too little
LEAST_BYTES = 20e6  # what Python with NumPy needs


def compare(runs: Sequence[Run], jobs: Mapping[str, AccountedJob]) -> dict[int, list[Finding]]:
    """Return, by run id, findings on jobs that took longer or did less work than their runs."""
    of_job: dict[AccountedJob, list[Run]] = {}
    of_step: dict[tuple[AccountedJob, AccountedStep | None], list[Run]] = {}
    for run in runs:
        job = job_of(run, jobs)
        if job is not None:
            of_job.setdefault(job, []).append(run)
            of_step.setdefault((job, step_of(run, job)), []).append(run)
    findings: dict[int, list[Finding]] = {}
    for (job, step), members in of_step.items():
        if found := too_long(members, job, step):
            findings |= {run.id: [found] for run in members}
    for job, members in of_job.items():
        claimed = sum(map(rank_seconds, members))
        for run in members:
            if found := idle(run, job, claimed) or small(run, job):
                findings.setdefault(run.id, []).append(found)
    return findings


def too_long(runs: Sequence[Run], job: AccountedJob, step: AccountedStep | None) -> Finding | None:
    """Compare the duration of a step, or of a job without steps, with that of its runs.

    They differ if somebody reduces the seconds in a record by hand.
    """
    began, ended = (step.start, step.end) if step else (job.start, job.end)
    spans = [known for run in runs if (known := span(run, ended))]
    if began is None or ended is None or len(spans) < len(runs):
        return None  # something without times ran there
    seconds, share = OF_STEP if step else OF_JOB
    covered = union(spans)
    room = seconds + share * covered + PREPARES_S.get(runs[0].header.lesson or "", 0.0)
    if ended - began - covered <= room:
        return None
    return job_finding(
        runs[0],
        Code.JOB_FAR_LONGER,
        f"about {ended - began:,.0f} s, of which at most {room:,.0f} s for the start of "
        "programs, data and evaluation",
        f"{covered:,.4g} s in {counted(len(runs), 'run')}",
        what="step" if step else "job",
    )


def union(spans: Sequence[tuple[float, float]]) -> float:
    total, reached = 0.0, float("-inf")
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, reached))
        reached = max(reached, last)
    return total


def rank_seconds(run: Run) -> float:
    """Return the rank-seconds spent on training and, in a speed job, on the phases."""
    ranks = measure.workers(run) or max(len(run.ranks), 1)
    trained = ranks * sum(epoch.seconds.value for epoch in run.epochs if epoch.seconds)
    phases = (seconds_of_phases(event) for event in run.measured("round"))
    return trained + sum(
        alone + ranks * (silent + together) for alone, silent, together in filter(None, phases)
    )


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
    long = [step for step in steps if step.lasted is not None and step.lasted >= SHORTEST_S]
    used = max((step.memory or 0.0 for step in long), default=0.0)
    parameters = 4 * (run.header.params or 0) / (measure.workers(run) or 1)
    needed = max(LEAST_BYTES, parameters)
    if not used or used >= needed:
        return None
    expected, found = f"at least {needed / 1e6:,.0f} MB of memory", f"{used / 1e6:.1f} MB"
    return job_finding(run, Code.JOB_COMPUTED_LITTLE, expected, found)
