"""Present the laptop as a batch system that answers like Slurm."""

import os
import signal
import socket
import time
from pathlib import Path

import click

from cluster.job_file.jobfile import JobFile, clock
from cluster.schedulers.contract import JobStatus, Show
from cluster.schedulers.laptop import job_records, new_jobs, processes, start
from cluster.schedulers.laptop.job_records import QueuedJob
from cluster.sites.site_files import Site

SUBMIT_PROGRAM = ""
RUNS_HERE = True
ASK_EVERY = 0.25  # its queue is a file
HEALTH: tuple[str, str] | None = None


def submit(
    job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
) -> str:
    first = new_jobs.enqueue(job, options, arguments, site, show)
    start.start_what_fits()
    return str(first)


def statuses(label: str) -> list[JobStatus]:
    """Return the job's status, or that of each task of an array.

    If the queue has stalled, also restart it.
    """
    if job_records.active():
        start.start_what_fits()
    return [
        JobStatus(
            label=job.label,
            state=job.state,
            reason=job.reason,
            output=Path(job.output),
            error=Path(job.error) if job.error else None,
        )
        for job in jobs_named(label)
    ]


def show_queue(labels: list[str]) -> None:
    """Print what squeue prints, for all jobs that wait or run, or for these."""
    start.start_what_fits()
    jobs = [job for label in labels for job in jobs_named(label) if not job.over]
    row = "{:>12} {:>9} {:>16} {:>8} {:>2} {:>10} {:>5} {}"
    titles = ("JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)")
    click.echo(row.format(*titles))
    for job in jobs if labels else job_records.active():
        running = job.state == job_records.RUNNING
        seconds = int(time.time() - (job.started or 0)) if running else 0
        click.echo(
            row.format(
                job.label,
                "laptop",
                job.name[:16],
                job.user[:8],
                "R" if running else "PD",
                clock(seconds).removeprefix("00:").removeprefix("0"),
                1,
                job.host if running else f"({job.reason})",
            )
        )


def jobs_named(label: str) -> list[QueuedJob]:
    if jobs := job_records.named(label):
        return jobs
    raise click.ClickException(
        f"there is no job {label} on the laptop site; to list yours: squeue --me"
    )


def cancel(label: str) -> None:
    jobs = jobs_named(label)
    elsewhere = [job.host for job in jobs if not job.over and job.host != socket.gethostname()]
    if elsewhere:
        raise click.ClickException(f"job {label} is on {elsewhere[0]}: cancel it there")
    ended = [start.cancel(job) for job in jobs]
    start.start_what_fits()
    if not any(ended):
        click.echo(f"job {label} had already ended: {jobs[-1].state}", err=True)


def send_signal(label: str, number: signal.Signals) -> None:
    for job in jobs_named(label):
        processes.signal_steps(job_records.job_folder(job.id), number)


def records(labels: list[str]) -> list[dict[str, str]]:
    start.start_what_fits()
    named = [job for label in labels for job in job_records.named(label)]
    return [accounting_row(job) for job in (named if labels else job_records.everything())]


def accounting_row(job: QueuedJob) -> dict[str, str]:
    def moment(when: float | None) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(when)) if when else "Unknown"

    cpus = job.ntasks * job.cpus_per_task
    elapsed = (job.ended or time.time()) - job.started if job.started else 0
    cancelled = job.state == job_records.CANCELLED
    return {
        "JobID": job.label,
        "User": job.user,
        "Account": "laptop",
        "JobName": job.name,
        "Partition": "laptop",
        "State": f"CANCELLED by {os.getuid()}" if cancelled else job.state,
        "ExitCode": f"{job.exit_code}:{job.exit_signal}",
        "DerivedExitCode": f"{job.exit_code}:0",
        "Submit": moment(job.submitted),
        "Start": moment(job.started),
        "End": moment(job.ended),
        "ElapsedRaw": str(int(elapsed)),
        "TimelimitRaw": "UNLIMITED" if job.seconds is None else str(-(-job.seconds // 60)),
        "NNodes": "1",
        "NCPUS": str(cpus),
        "AllocTRES": f"billing={cpus},cpu={cpus},node=1" if job.started else "",
        "NodeList": job.host if job.started else "None assigned",
        "SubmitLine": job.submit_line,
        "JobIDRaw": str(job.id),
    }
