"""The laptop's answers to the commands: submit, queue, status, cancel, accounting."""

import getpass
import json
import os
import shlex
import shutil
import socket
import time
from pathlib import Path

import click

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile
from cluster.job_file.sbatch_options import as_words
from cluster.schedulers.job_status import ACCOUNTING, Status
from cluster.schedulers.laptop import environment, processes, scheduler, store
from cluster.schedulers.laptop.store import Job
from cluster.sites.site import Site

RANKS_A_CORE = 8  # beyond that, memory and patience run out: TensorFlow takes 0.5 GB a rank
DEFAULT_SECONDS = 3600  # a job without --time; one that hangs shall not hold the queue for ever


# What would do something else than asked for if it were passed over in silence.
NOT_HERE = ("begin", "deadline", "help", "hold", "input", "test-only", "usage", "version", "wrap")


def submit(
    job: JobFile, options: dict[str, str], arguments: list[str], where: Site, show_on
) -> str:
    """Put the job into the queue; its id, as sbatch would print it."""
    asked = jobfile.request(job, options)
    if asked.dependency and (problem := scheduler.dependency_problem(asked.dependency)):
        raise jobfile.JobFileError(problem)
    refuse_too_many(asked.ntasks)
    for remark in crowded(asked.ntasks):
        show_on(remark)
    folder = Path.cwd() / (asked.folder or "")
    every_option = {**job.options, **options}
    for name in NOT_HERE:
        if name in every_option:
            raise jobfile.JobFileError(f"--{name}: the laptop site does not know this option")
    exported = environment.exported(dict(os.environ), every_option.get("export", "ALL"))
    exported |= where.exports
    tasks = asked.array or (None,)
    script = job.path.read_bytes()
    line = shlex.join(["sbatch", *as_words(options), str(job.path), *arguments])
    show_on(f"$ {line}   # run by the laptop site: this machine has no batch system")
    host = socket.gethostname()
    with store.lock():
        first = store.next_ids(len(tasks))
        for number, index in enumerate(tasks):
            job_id = first + number
            task = None if index is None else (first, index)
            values = jobfile.values_of(job_id, asked.name, host.partition(".")[0], task)
            error = asked.error and str(folder / jobfile.fill(asked.error, values))
            record = Job(
                id=job_id,
                name=asked.name,
                ntasks=asked.ntasks,
                cpus_per_task=asked.cpus_per_task,
                nodes_asked=asked.nodes,
                seconds=asked.seconds if "time" in every_option else DEFAULT_SECONDS,
                folder=str(folder),
                output=str(folder / jobfile.fill(asked.output, values)),
                error=error,
                append=asked.append,
                submit_line=line,
                submitted=time.time(),
                host=host,
                user=getpass.getuser(),
                array_job=None if index is None else first,
                array_index=index,
                array_size=len(tasks) if asked.array else 0,
                at_once=asked.at_once,
                dependency=asked.dependency,
                signal=asked.signal,
                kill_on_invalid_dependency=every_option.get("kill-on-invalid-dep") == "yes",
                options=every_option,
                arguments=tuple(arguments),
            )
            write(record, script, exported)
    scheduler.start_what_fits()
    return str(first)


def refuse_too_many(ranks: int) -> None:
    here = len(processes.cores())
    if ranks > (most := max(16, RANKS_A_CORE * here)):
        raise jobfile.JobFileError(
            f"--ntasks={ranks}: this machine has {here} cores and would stand still: ask for at"
            f" most {most} here, or submit to a cluster (cluster sites lists them)"
        )


def crowded(ranks: int) -> list[str]:
    here = len(processes.cores())
    if ranks <= here:
        return []
    return [f"laptop: {ranks} ranks on {here} cores take turns: no speedup can be shown"]


def write(job: Job, script: bytes, exported: dict[str, str]) -> None:
    folder = store.job_folder(job.id)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    (folder / "script").write_bytes(script)
    (folder / "script").chmod(0o700)
    (folder / "environment.json").write_text(json.dumps(exported))
    store.save(job)


def statuses(label: str) -> list[Status]:
    """The job's state, or that of each task of an array; also gets a stalled queue going."""
    if store.active():
        scheduler.start_what_fits()
    jobs = store.named(label)
    if not jobs:
        raise click.ClickException(f"there is no job {label} on the laptop site: `cluster queue`")
    return [
        Status(
            label=job.label,
            state=job.state,
            reason=job.reason,
            output=Path(job.output),
            error=Path(job.error) if job.error else None,
        )
        for job in jobs
    ]


def stands_for(words: str) -> None:
    """The command that a Slurm site would run here, to be learnt."""
    click.echo(f"# on a Slurm site: {words}", err=True)


def queue() -> None:
    stands_for("squeue --me")
    scheduler.start_what_fits()
    row = "{:>12} {:>9} {:>16} {:>8} {:>2} {:>10} {:>5} {}"
    titles = ("JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)")
    click.echo(row.format(*titles))
    for job in store.active():
        running = job.state == store.RUNNING
        click.echo(
            row.format(
                job.label,
                "laptop",
                job.name[:16],
                job.user[:8],
                "R" if running else "PD",
                clock(time.time() - (job.started or 0)) if running else "0:00",
                1,
                job.host if running else f"({job.reason})",
            )
        )


def clock(seconds: float) -> str:
    """3725 -> 1:02:05, as squeue writes it."""
    hours, rest = divmod(int(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cancel(label: str) -> None:
    stands_for(f"scancel {label}")
    jobs = store.named(label)
    if not jobs:
        raise click.ClickException(f"there is no job {label} on the laptop site: `cluster queue`")
    elsewhere = [job.host for job in jobs if not job.over and job.host != socket.gethostname()]
    if elsewhere:
        raise click.ClickException(f"job {label} is on {elsewhere[0]}: cancel it there")
    ended = [scheduler.cancel(job) for job in jobs]
    scheduler.start_what_fits()
    if not any(ended):
        click.echo(f"job {label} was over already: {jobs[-1].state}", err=True)


def accounting(labels: list[str]) -> None:
    """What `sacct -X -P` prints for these jobs, or for all of them."""
    stands_for(" ".join(["sacct -X -P", *([f"--jobs={','.join(labels)}"] if labels else [])]))
    scheduler.start_what_fits()
    jobs = [job for label in labels for job in store.named(label)] if labels else store.everything()
    click.echo(ACCOUNTING)
    for job in jobs:
        click.echo("|".join(accounting_row(job)))


def accounting_row(job: Job) -> list[str]:
    def moment(when: float | None) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(when)) if when else "Unknown"

    cpus = job.ntasks * job.cpus_per_task
    elapsed = (job.ended or time.time()) - job.started if job.started else 0
    cancelled = job.state == store.CANCELLED
    return [
        job.label,
        job.user,
        "laptop",
        job.name,
        "laptop",
        f"CANCELLED by {os.getuid()}" if cancelled else job.state,
        f"{job.exit_code}:{job.exit_signal}",
        f"{job.derived_exit_code}:0",
        moment(job.submitted),
        moment(job.started),
        moment(job.ended),
        str(int(elapsed)),
        "UNLIMITED" if job.seconds is None else str(-(-job.seconds // 60)),
        "1",
        str(cpus),
        f"billing={cpus},cpu={cpus},node=1" if job.started else "",
        job.host if job.started else "None assigned",
        job.submit_line,
    ]
