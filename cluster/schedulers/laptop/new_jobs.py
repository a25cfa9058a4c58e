"""Submit a job file to the laptop's queue, or refuse it with a reason."""

import getpass
import json
import os
import shlex
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFile, JobRequest
from cluster.job_file.sbatch_options import as_words, unknown
from cluster.schedulers.contract import Show
from cluster.schedulers.laptop import dependencies, job_environment, job_records
from cluster.schedulers.laptop.cores import whole_cores
from cluster.schedulers.laptop.job_records import QueuedJob
from cluster.sites.site_files import Site

RANKS_A_CORE = 8  # more would run out of memory: TensorFlow takes 0.5 GB per rank
DEFAULT_SECONDS = 3600  # without --time, so that a job that hangs does not block the queue forever

# Options that must not be ignored silently, because the job would do something else.
NOT_HERE = ("begin", "deadline", "export", "hold", "input", "test-only", "version", "wrap")


def enqueue(
    job: JobFile, options: dict[str, str], arguments: list[str], site: Site, show: Show
) -> int:
    """Put the job into the queue, several times if it is an array, and return the first id."""
    asked = jobfile.request(job, options)
    every_option = {**job.options, **options}
    refuse(asked, every_option)
    for name in unknown(every_option):
        show(f"laptop: --{name} is not known here and changes nothing")
    line = shlex.join(["sbatch", *as_words(options), str(job.path), *arguments])
    script = job.path.read_bytes()
    queued = described(asked, every_option, arguments, line)
    for remark in job_environment.remarks(queued):
        show(remark)
    show(f"$ {line}   # run by the laptop's own queue")
    with job_records.lock():
        jobs = numbered(queued, asked)
        # a cluster or an earlier queue may have written an output with this id: keep the file
        while any(
            str(jobs[0].id) in file.name and file.exists()
            for file in (Path(task.output) for task in jobs)
        ):
            jobs = numbered(queued, asked)
        for task in jobs:
            write(task, script, os.environ | site.exports)
    return jobs[0].id


def refuse(asked: JobRequest, every_option: dict[str, str]) -> None:
    """Raise JobFileError for a request that this machine cannot fulfil."""
    if asked.dependency and (problem := dependencies.problem(asked.dependency)):
        raise jobfile.JobFileError(problem)
    here = len(whole_cores())
    if asked.ntasks > (most := max(16, RANKS_A_CORE * here)):
        raise jobfile.JobFileError(
            f"--ntasks={asked.ntasks}: this machine has {here} cores and would stand still: ask for"
            f" at most {most} here, or submit to a cluster (cluster sites lists them)"
        )
    for name in NOT_HERE:
        if name in every_option and (name, every_option[name]) != ("export", "ALL"):
            raise jobfile.JobFileError(f"--{name}: the laptop site does not know this option")


def described(
    asked: JobRequest, every_option: dict[str, str], arguments: list[str], line: str
) -> QueuedJob:
    """Return the job's record without the fields that depend on its id."""
    return QueuedJob(
        id=0,
        name=asked.name,
        ntasks=asked.ntasks,
        cpus_per_task=asked.cpus_per_task,
        nodes_asked=asked.nodes,
        seconds=asked.seconds if "time" in every_option else DEFAULT_SECONDS,
        folder=str(Path.cwd() / (asked.folder or "")),
        output="",
        error=None,
        append=asked.append,
        submit_line=line,
        submitted=time.time(),
        host=socket.gethostname(),
        user=getpass.getuser(),
        array_size=len(asked.array or ()),
        at_once=asked.at_once,
        dependency=asked.dependency,
        signal=asked.signal,
        options=every_option,
        arguments=tuple(arguments),
    )


def numbered(queued: QueuedJob, asked: JobRequest) -> list[QueuedJob]:
    """Return the job, or all tasks of its array, with the next free ids. Call it under the lock."""
    first = job_records.next_ids(len(asked.array or (None,)))

    def task(job_id: int, index: int | None) -> QueuedJob:
        place = None if index is None else (first, index)
        values = jobfile.values_of(job_id, asked.name, queued.host.partition(".")[0], place)

        def file(pattern: str) -> str:
            return str(Path(queued.folder) / jobfile.fill(pattern, values))

        return replace(
            queued,
            id=job_id,
            array_job=None if index is None else first,
            array_index=index,
            output=file(asked.output),
            error=file(asked.error) if asked.error else asked.error,
        )

    return [task(job_id, index) for job_id, index in enumerate(asked.array or (None,), first)]


def write(job: QueuedJob, script: bytes, exported: dict[str, str]) -> None:
    folder = job_records.job_folder(job.id)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    (folder / "script").write_bytes(script)
    (folder / "script").chmod(0o700)
    (folder / "environment.json").write_text(json.dumps(exported))
    job_records.save(job)
