"""Submit jobs from a notebook: each job once, with the real command and short error messages."""

import contextlib
import os
import re
import shlex
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from autograder.reading.files import read_files
from cluster.job_file import jobfile
from cluster.job_file.programs import hashes_of
from cluster.jobs import failure_advice, gpu_share, placing
from cluster.jobs.live import LiveEpochs
from cluster.jobs.readable import readable_lines
from cluster.jobs.submit import submit
from cluster.jobs.wait import describe, wait_for
from cluster.schedulers import history
from cluster.schedulers.contract import JobStatus
from cluster.schedulers.history import Submission
from cluster.schedulers.known import WITHOUT_SLURM, scheduler_of
from cluster.sites import site_files
from cluster.sites.site_files import Site

# Set in a notebook for the notebook alone; a batch system would pass them on to the job.
OWN = {"TF_CPP_MIN_LOG_LEVEL", "OPENBLAS_NUM_THREADS"}
OWN_GPUS = {"CUDA_VISIBLE_DEVICES"}  # those of this machine, where the job does not run here
# Where an output is from and how many ranks it has, as `facts` prints them.
PLACE = re.compile(r"^site: (\S+) .*?^nodes: \d+ \((.*?)\)$(?:\nranks: (\d+))?", re.M | re.S)
STARTS = re.compile(r'([\w-]+\.py)\b(.*?)"\$@"')  # a program, and its arguments in the job file


class JobError(RuntimeError):
    """A job that failed. Jupyter shows only the lines of the message."""

    def _render_traceback_(self) -> list[str]:
        return [in_lines(f"{type(self).__name__}: {self}")]


def in_lines(text: str) -> str:
    """Wrap long lines, which a notebook would break within words."""
    wrapper = textwrap.TextWrapper(96, subsequent_indent="  ", break_long_words=False)
    wrapper.break_on_hyphens = False
    return "\n".join(wrapper.fill(line) for line in text.split("\n"))


class SubmitError(JobError):
    """A job that the site refused."""


@contextlib.contextmanager
def in_one_sentence() -> Iterator[None]:
    """Raise what the site or the job file refuses as a SubmitError."""
    try:
        yield
    except (click.ClickException, ValueError) as error:
        message = error.message if isinstance(error, click.ClickException) else str(error)
        raise SubmitError(message) from None


@in_one_sentence()
def submit_once(
    job_file: str, *arguments: object, options: dict[str, str] | None = None, again: bool = False
) -> list[Path]:
    """Submit a job from a notebook and wait for it, unless its output already exists.

    Return the output files. The same job file with other arguments or options is a different job. A
    job that failed is submitted again. With `again=True`, the job is always submitted.
    """
    path, words, options = Path(job_file), [str(word) for word in arguments], options or {}
    site = site_files.current()
    job_id = None if again else earlier(path, words, options, site)
    if job_id is None and not again and (files := brought(path, words, options, site)):
        print(f"{path}: its output is here: {', '.join(file.name for file in files)}")
        return files
    indices = [str(index) for index in jobfile.request(jobfile.read(path), options).array or ()]
    most = site.number("SITE_MAX_JOBS") or len(indices)
    if job_id is None and len(indices) > most:
        print(f"{path}: {site.name} takes {most} of your jobs at a time: the array goes in parts")
        parts = [",".join(indices[at : at + most]) for at in range(0, len(indices), most)]
        each = (options | {"array": part} for part in parts)
        done = [submit_once(job_file, *words, options=part, again=again) for part in each]
        return [file for files in done for file in files]
    statuses = wait_quietly(job_id or submitted(path, words, options, site), site)
    failed = [status for status in statuses if not status.succeeded]
    if failed:
        raise JobError(explain(failed[0]))
    return [status.output for status in statuses if status.output]


def show_output(files: Iterable[Path | str]) -> None:
    """Print the output of jobs without the run record."""
    for file in files:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(readable_lines(lines)))


def typed(line: str) -> str:
    """Run a line as a terminal does, with the site's settings; print and return what it prints."""
    site = site_files.current()
    environ = {name: os.environ[name] for name in os.environ.keys() - own_names(site) - site.unset}
    environ |= site.exports
    folders = [str(Path(sys.executable).parent), environ["PATH"]]
    if site.scheduler in WITHOUT_SLURM:
        folders.insert(0, str(site_files.LAPTOP_BIN))
    environ["PATH"] = os.pathsep.join(folders)
    done = subprocess.run(line, shell=True, env=environ, capture_output=True)
    printed = done.stdout.decode(errors="replace")
    print(f"$ {line}\n{done.stderr.decode(errors='replace')}{printed}")
    if done.returncode:
        where = "read the file that it printed into" if ">" in line else "read what it printed"
        raise JobError(f"`{line}` failed, with exit code {done.returncode}: {where}")
    return printed


@in_one_sentence()
def submit_sizes(job_file: str, *arguments: object, ranks: int, gpus: str = "") -> list[Path]:
    """Call submit_once for 1, 2, 4 … up to `ranks` ranks, with the options of `on_nodes` for each.

    All jobs are submitted at once if the site allows it.
    """
    path, words = Path(job_file), [str(word) for word in arguments]
    site = site_files.current()
    plan = [placing.placed(size, site, gpus) for size in placing.up_to(ranks)]
    together = not (scheduler_of(site).RUNS_HERE or site.settings.get("SITE_MAX_JOBS"))
    for asked in plan if together else ():
        if not (earlier(path, words, asked, site) or brought(path, words, asked, site)):
            submitted(path, words, asked, site)
    found = (submit_once(job_file, *words, options=asked) for asked in plan)
    return list(dict.fromkeys(file for files in found for file in files))


@in_one_sentence()
def on_nodes(ranks: int, gpus: str = "", *, minutes: int = placing.MINUTES) -> dict[str, str]:
    """Return `submit_once` options for this many ranks, on as few nodes as possible.

    `gpus` is the option that requests n GPUs of a node, such as "gres=gpu:{n}". A page gives it in
    `full` only: `on_nodes(ranks, gpus if profile == "full" else "")`. The job then also gets a time
    limit of 30 minutes, or `minutes`. Without GPUs it keeps the limit of its job file.

    Cores are added when the job is submitted, in a terminal too: see `gpu_share`. A rank whose
    program uses a framework gets its GPUs' share of the node. So no page requests cores, unless
    they are what it measures.
    """
    return placing.placed(ranks, site_files.current(), gpus, minutes)


@in_one_sentence()
def two_nodes() -> int:
    """Return the largest number of ranks for a study: all GPUs of two nodes, at least four.

    On the laptop site it is the number of GPUs that this machine shows.
    """
    return placing.out_of_one_node(site_files.current())


@in_one_sentence()
def cores_per_gpu() -> int:
    """Return how many cores a rank with one GPU gets: for pages that compare numbers of cores."""
    return gpu_share.cores_per_gpu(site_files.current())


def own_names(site: Site) -> set[str]:
    return OWN if scheduler_of(site).RUNS_HERE else OWN | OWN_GPUS


def submitted(path: Path, words: list[str], options: dict[str, str], site: Site) -> str:
    own = {name: os.environ.pop(name) for name in own_names(site) if name in os.environ}
    try:
        with contextlib.chdir(path.parent):  # the folder of the job's program and its outputs
            return submit(Path(path.name), words, options, site, show=print)
    finally:
        os.environ |= own


def brought(path: Path, words: list[str], options: dict[str, str], site: Site) -> list[Path]:
    """Return the job's outputs from other machines, or none if it was submitted on this one."""
    if any(each.asked_the_same(options, words) for each in history.of(path)):
        return []
    job = jobfile.read(path)
    ranks = str(jobfile.request(job, options).ntasks)
    host = socket.gethostname() if scheduler_of(site).RUNS_HERE else None

    own = {
        (program, len(shlex.split(before)) + len(words))
        for program, before in STARTS.findall(path.read_text())
    }

    def is_asked(file: Path) -> bool:
        place = PLACE.search(file.read_text(encoding="utf-8", errors="replace"))
        if not place or (place[1] == site.name and host in (None, place[2])):
            return False
        runs = [(run.header.program, run.header.arguments) for run in read_files([file])]
        known = [(name, list(a)) for name, a in runs if a is not None and name in dict(own)]
        same = [a[len(a) - len(words) :] == words and (name, len(a)) in own for name, a in known]
        return place[3] in (None, ranks) and (not known or any(same))

    return [file for file in jobfile.existing_outputs(job, path.parent) if is_asked(file)]


def earlier(path: Path, arguments: list[str], options: dict[str, str], site: Site) -> str | None:
    """Return the latest job with the same file, options and arguments.

    Only jobs that are waiting or running, or that have succeeded, are considered.
    """
    same: list[Submission] = [
        submission
        for submission in history.of(path)
        if submission.site == site.name and submission.asked_the_same(options, arguments)
    ]
    if not same:
        return None
    latest = same[-1]
    try:
        statuses = scheduler_of(site).statuses(latest.job_id)
    except click.ClickException:  # too old for the scheduler to know
        statuses = []
    if any(status.over and not status.succeeded for status in statuses):
        return None
    written = [status.output for status in statuses if status.succeeded]
    if not statuses or any(output is None or not output.is_file() for output in written):
        return None
    now = hashes_of(path)
    if changed := sorted(name for name in now if now[name] != latest.files.get(name)):
        print(
            f"{path}: you changed {' and '.join(changed)} since job {latest.job_id}: it runs again"
        )
        return None
    print(f"{path}: job {latest.job_id} was submitted before, with the same arguments")
    return latest.job_id


def wait_quietly(job_id: str, site: Site) -> list[JobStatus]:
    begun = time.monotonic()

    def say(line: str) -> None:
        print(f"{line}  [{time.monotonic() - begun:.0f} s]", flush=True)

    try:
        return wait_for(job_id, site, say, LiveEpochs())
    except KeyboardInterrupt as stopped:
        print(f"You stopped waiting, but job {job_id} continues. To end it: scancel {job_id}")
        # Jupyter shows this line instead of where in the course's code the wait ended.
        line = "KeyboardInterrupt: to wait for the job again, run this cell again."
        stopped._render_traceback_ = lambda: [line]  # type: ignore[attr-defined]
        raise


def explain(status: JobStatus) -> str:
    failure_advice.tell([status], lambda line: print(in_lines(line)))
    file = status.error or status.output
    written = file is not None and file.is_file()
    at = f"; its last lines are above, and the whole text is in {file}" if written else ""
    return f"{describe(status)}{at}"
