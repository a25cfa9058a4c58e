"""Compare the work that runs claim with the CPU time and the memory of their job.

A job that slept has the right hosts and the right length, but it used no CPU time. Energy is not
compared, because an idle node uses most of the energy of a busy one.
"""

from collections.abc import Mapping, Sequence

from autograder.codes import FindingCode as Code
from autograder.evidence.accounting import job_finding, job_of
from autograder.evidence.accounting_dump import AccountedJob
from autograder.measuring import measure
from autograder.measuring.rounds import seconds_of_phases
from autograder.records import Run
from autograder.verdict import Finding

# A rank uses one core or, with a GPU, most of one. On a machine with fourteen times more work than
# cores it gets a fourteenth of one. A rank that sleeps uses less than a thousandth.
LEAST_CPU = 0.05
SHORTEST_S = 60.0  # memory is sampled every 30 s at most sites, so shorter steps show too little
LEAST_BYTES = 20e6  # what Python with NumPy needs


def too_little(runs: Sequence[Run], jobs: Mapping[str, AccountedJob]) -> dict[int, Finding]:
    """Return a finding for each run whose job did less work than its runs claim in total."""
    groups: dict[str, list[tuple[Run, AccountedJob]]] = {}
    for run in runs:
        job = job_of(run, jobs)
        if job is not None:
            groups.setdefault(job.job_id, []).append((run, job))
    findings = {}
    for members in groups.values():
        job, claimed = members[0][1], sum(rank_seconds(run) for run, _ in members)
        for run, _ in members:
            finding = idle(run, job, claimed) or small(run, job)
            if finding:
                findings[run.id] = finding
    return findings


def counts_work(job: AccountedJob | None) -> bool:
    """Return whether the accounting states how much CPU time this job used."""
    return job is not None and job.cpu_seconds is not None


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

    The ranks may split the parameters, so the process needs to hold only one rank's share.
    """
    long = [step for step in job.steps if step.lasted is not None and step.lasted >= SHORTEST_S]
    used = max((step.memory or 0.0 for step in long), default=0.0)
    parameters = 4 * (run.header.params or 0) / (measure.workers(run) or 1)
    needed = max(LEAST_BYTES, parameters)
    if not used or used >= needed:
        return None
    expected, found = f"at least {needed / 1e6:,.0f} MB of memory", f"{used / 1e6:.1f} MB"
    return job_finding(run, Code.JOB_COMPUTED_LITTLE, expected, found)
