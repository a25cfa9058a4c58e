"""Which job runs when: first come, first served, never more cores than the machine has."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

from cluster.schedulers.laptop import processes, store
from cluster.schedulers.laptop.store import Job

# -P: a student's queue.py in the current folder is not ours.
SUPERVISE = [sys.executable, "-P", "-m", "cluster.schedulers.laptop.supervise"]


def start_what_fits() -> None:
    """Notice what has died, then start what may run; commands and ending jobs call it."""
    with store.lock():
        # A home folder may be shared with other machines, which look after their own jobs.
        mine = [job for job in store.active() if job.host == socket.gethostname()]
        jobs = [notice_death(job) for job in mine]
        running = [job for job in jobs if job.state == store.RUNNING]
        cores = processes.cores()
        taken = {core for job in running for core in job.cores}
        free = [core for core in cores if core not in taken]
        full = False
        for job in [job for job in jobs if job.state == store.PENDING]:
            reason = waits_for(job)
            if not reason and job.at_once:
                beside = [other for other in running if other.array_job == job.array_job]
                reason = "JobArrayTaskLimit" if len(beside) >= job.at_once else ""
            if reason == "DependencyNeverSatisfied" and job.kill_on_invalid_dependency:
                store.change(job, state=store.CANCELLED, reason=reason, ended=time.time())
                continue
            need = min(job.ntasks * job.cpus_per_task, len(cores))
            if not reason:
                reason = "Priority" if full else "Resources" if need > len(free) else ""
                full = full or bool(reason)
            if reason:
                if job.reason != reason:
                    store.change(job, reason=reason)
                continue
            running.append(start(job, tuple(free[:need])))
            free = free[need:]


def notice_death(job: Job) -> Job:
    """A running job whose supervisor has gone (killed, reboot) failed with its node."""
    if job.state != store.RUNNING or store.alive(job):
        return job
    processes.signal_all(store.job_folder(job.id), signal.SIGKILL)
    return store.change(job, state=store.NODE_FAIL, reason="NodeDown", ended=time.time())


def start(job: Job, cores: tuple[int, ...]) -> Job:
    job = store.change(job, state=store.RUNNING, reason="None", started=time.time(), cores=cores)
    descriptor = store.take_life(job)
    # The job may be another one's: it is not to be taken for a part of what starts it.
    marks = (processes.MARKER, "COURSE_RUN_MARK")
    mine = {name: value for name, value in os.environ.items() if name not in marks}
    try:
        started = subprocess.run(
            [*SUPERVISE, str(store.job_folder(job.id)), str(descriptor)],
            pass_fds=(descriptor,),
            env=mine,
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(descriptor)
    # Without a number it did not start; the free lock will show the job as failed.
    return store.change(job, supervisor=int(started.stdout.strip() or 0))


def waits_for(job: Job) -> str:
    """Slurm's reason while a dependency holds the job back, or "" when none does."""
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


def verdict(condition: str, job: Job) -> str:
    """One of `afterok:12:13`, `singleton`, … : fulfilled "", still open, or never."""
    kind, *labels = condition.split(":")
    if kind == "singleton":
        others = store.active()
        return "Dependency" if any(o.id < job.id and o.name == job.name for o in others) else ""
    earlier = [other for label in labels for other in store.named(label.partition("+")[0])]
    if kind == "after":
        return "Dependency" if any(other.state == store.PENDING for other in earlier) else ""
    succeeded = [other.state == store.COMPLETED for other in earlier if other.over]
    if (kind == "afterok" and not all(succeeded)) or (kind == "afternotok" and any(succeeded)):
        return "DependencyNeverSatisfied"
    return "Dependency" if len(succeeded) < len(earlier) else ""


def dependency_problem(text: str) -> str | None:
    """What is wrong with a --dependency, in a sentence; None if nothing is."""
    for condition in re.split("[,?]", text):
        kind, *labels = condition.split(":")
        if kind == "singleton" and not labels:
            continue
        if kind not in ("after", "afterany", "afterok", "afternotok") or not labels:
            return (
                f"--dependency={text}: give afterok:JOB, afterany:JOB, afternotok:JOB or after:JOB"
            )
        for label in labels:
            if not store.named(label.partition("+")[0]):
                return f"--dependency={text}: there is no job {label} on the laptop site"
    return None


def cancel(job: Job) -> bool:
    """End a job or take it out of the queue; False if it was over already."""
    with store.lock():
        now = store.load(job.id)
        if now is None or now.over:
            return False
        if now.state == store.PENDING:
            by = f"CANCELLED by {os.getuid()}"
            store.change(now, state=store.CANCELLED, reason=by, ended=time.time())
            return True
        if now.supervisor and store.alive(now):
            os.kill(now.supervisor, signal.SIGTERM)
        return True
