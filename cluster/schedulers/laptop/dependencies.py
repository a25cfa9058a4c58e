"""Handle `--dependency`: decide whether a job may start, has to wait, or can never start."""

import re

from cluster.schedulers.laptop import job_records
from cluster.schedulers.laptop.job_records import QueuedJob


def waits_for(job: QueuedJob) -> str:
    """Return Slurm's reason for waiting if a dependency delays the job, otherwise ""."""
    if not job.dependency:
        return ""
    either = "?" in job.dependency
    verdicts = [verdict(condition, job) for condition in re.split("[,?]", job.dependency)]
    if either:
        if "" in verdicts:
            return ""
        return "Dependency" if "Dependency" in verdicts else "DependencyNeverSatisfied"
    for reason in ("DependencyNeverSatisfied", "Dependency"):
        if reason in verdicts:
            return reason
    return ""


def verdict(condition: str, job: QueuedJob) -> str:
    """Return "" if a condition such as `afterok:12:13` is met, otherwise Slurm's reason."""
    kind, *labels = condition.split(":")
    if kind == "singleton":
        others = job_records.active()
        return "Dependency" if any(o.id < job.id and o.name == job.name for o in others) else ""
    earlier = [other for label in labels for other in job_records.named(label.partition("+")[0])]
    if kind == "after":
        return "Dependency" if any(other.state == job_records.PENDING for other in earlier) else ""
    succeeded = [other.state == job_records.COMPLETED for other in earlier if other.over]
    if (kind == "afterok" and not all(succeeded)) or (kind == "afternotok" and any(succeeded)):
        return "DependencyNeverSatisfied"
    return "Dependency" if len(succeeded) < len(earlier) else ""


def problem(text: str) -> str | None:
    """Return a sentence that says what is wrong with a --dependency; None if it is valid."""
    for condition in re.split("[,?]", text):
        kind, *labels = condition.split(":")
        if kind == "singleton" and not labels:
            continue
        if kind not in ("after", "afterany", "afterok", "afternotok") or not labels:
            return (
                f"--dependency={text}: give afterok:JOB, afterany:JOB, afternotok:JOB or after:JOB"
            )
        for label in labels:
            if not job_records.named(label.partition("+")[0]):
                return f"--dependency={text}: there is no job {label} on the laptop site"
    return None
