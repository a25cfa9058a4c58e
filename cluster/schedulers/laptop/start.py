"""Start and end jobs: first come, first served, and never on more cores than the machine has."""

import os
import signal
import socket
import subprocess
import sys
import time

from cluster.schedulers.laptop import dependencies, job_records, processes
from cluster.schedulers.laptop.cores import whole_cores
from cluster.schedulers.laptop.job_records import QueuedJob

# -P: a student's queue.py in the current folder must not be imported
SUPERVISE = [sys.executable, "-P", "-m", "cluster.schedulers.laptop.supervise"]


def start_what_fits() -> None:
    """Mark jobs whose supervisor died, then start the jobs that may run.

    Commands and ending jobs call this.
    """
    with job_records.lock():
        # Other machines may share the home folder; each one handles only its own jobs.
        mine = [job for job in job_records.active() if job.host == socket.gethostname()]
        jobs = [notice_death(job) for job in mine]
        pending = [job for job in jobs if job.state == job_records.PENDING]
        if not pending:
            return  # whoever waits for a job asks four times per second
        running = [job for job in jobs if job.state == job_records.RUNNING]
        cores = whole_cores()
        taken = {core for job in running for core in job.cores}
        others = processes.bound_to_each_cpu()  # jobs of other queues: another user's, say
        free = sorted((core for core in cores if core not in taken), key=others.__getitem__)
        full = False
        for job in pending:
            reason = held_back(job, running)
            need = min(job.ntasks * job.cpus_per_task, len(cores))
            if not reason:
                reason = "Priority" if full else "Resources" if need > len(free) else ""
                full = full or bool(reason)
            if not reason:
                running.append(start(job, tuple(sorted(free[:need]))))
                free = free[need:]
            elif job.reason != reason:
                job_records.change(job, reason=reason)


def held_back(job: QueuedJob, running: list[QueuedJob]) -> str:
    """Return Slurm's reason for holding back a job although cores are free; "" if there is none."""
    reason = dependencies.waits_for(job)
    if not reason and job.at_once:
        beside = [other for other in running if other.array_job == job.array_job]
        reason = "JobArrayTaskLimit" if len(beside) >= job.at_once else ""
    return reason


def notice_death(job: QueuedJob) -> QueuedJob:
    """Mark a running job as NODE_FAIL if its supervisor was killed or the machine was restarted."""
    if job.state != job_records.RUNNING or job_records.alive(job):
        return job
    processes.signal_all(job_records.job_folder(job.id), signal.SIGKILL)
    return job_records.change(
        job, state=job_records.NODE_FAIL, reason="NodeDown", ended=time.time()
    )


def start(job: QueuedJob, cores: tuple[int, ...]) -> QueuedJob:
    job = job_records.change(
        job, state=job_records.RUNNING, reason="None", started=time.time(), cores=cores
    )
    descriptor = job_records.take_life(job)
    # The job may belong to another caller, so it must not inherit this caller's marks.
    marks = (processes.MARKER, "COURSE_RUN_MARK")
    mine = {name: value for name, value in os.environ.items() if name not in marks}
    try:
        started = subprocess.run(
            [*SUPERVISE, str(job_records.job_folder(job.id)), str(descriptor)],
            pass_fds=(descriptor,),
            env=mine,
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(descriptor)
    # Without a process id it did not start; the free lock then marks the job as failed.
    return job_records.change(job, supervisor=int(started.stdout.strip() or 0))


def cancel(job: QueuedJob) -> bool:
    """End a job or remove it from the queue. Return False if it had already ended."""
    with job_records.lock():
        now = job_records.load(job.id)
        if now is None or now.over:
            return False
        if now.state == job_records.PENDING:
            by = f"CANCELLED by {os.getuid()}"
            job_records.change(now, state=job_records.CANCELLED, reason=by, ended=time.time())
            return True
        if now.supervisor and job_records.alive(now):
            os.kill(now.supervisor, signal.SIGTERM)
        return True
