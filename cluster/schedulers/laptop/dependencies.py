"""Handle `--dependency`: decide whether a job may start, has to wait, or can never start."""

from cluster.schedulers.laptop import job_records
from cluster.schedulers.laptop.job_records import QueuedJob


def waits_for(job: QueuedJob) -> str:
    """Return Slurm's reason for waiting if a dependency delays the job, otherwise ""."""
    verdicts = [verdict(condition) for condition in (job.dependency or "").split(",") if condition]
    reasons = ("DependencyNeverSatisfied", "Dependency")
    return next((reason for reason in reasons if reason in verdicts), "")


def verdict(condition: str) -> str:
    """Return "" if a condition such as `afterok:12:13` is met, otherwise Slurm's reason."""
    kind, *labels = condition.split(":")
    earlier = [other for label in labels for other in job_records.named(label)]
    succeeded = [other.state == job_records.COMPLETED for other in earlier if other.over]
    if kind == "afterok" and not all(succeeded):
        return "DependencyNeverSatisfied"
    return "Dependency" if len(succeeded) < len(earlier) else ""


def problem(text: str) -> str | None:
    """Return a sentence that says what is wrong with a --dependency; None if it is valid."""
    for condition in text.split(","):
        kind, *labels = condition.split(":")
        if kind not in ("afterany", "afterok") or not labels:
            return f"--dependency={text}: the laptop knows afterok:JOB and afterany:JOB"
        for label in labels:
            if not job_records.named(label):
                return f"--dependency={text}: there is no job {label} on the laptop site"
    return None
