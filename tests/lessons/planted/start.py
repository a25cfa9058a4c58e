"""Run the jobs of a table for real, each in a folder of its own."""

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from autograder.reading.files import read_files
from cluster.sites import site_files
from tests.lessons.planted.key import JOB_FILES
from tests.lessons.planted.plants import Lesson, patched
from tests.lessons.real_runs import ONE_BY_ONE, environment, meet

MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np")
STALLED = "waiting for remainder of ranks"  # what Horovod says of ranks that do not come
FAILURES = (AssertionError, OSError, subprocess.SubprocessError)

Start = tuple[Path, list[str]]  # a folder, and what follows `python` there


def run_jobs(
    lesson: Lesson, names: Iterable[str], folder: Path
) -> Iterator[tuple[list[str], Exception | None]]:
    """Run these jobs and those that they begin from. After each batch, yield its jobs, or what
    failed.

    The output of a job is FOLDER/NAME/job.out, and job.err for one that may not end well.
    """
    wanted = {needed for name in names for needed in lesson.needed(name)}
    alike = {name: how(lesson, name) for name in lesson.jobs if name in wanted}
    for _, names_alike in groupby(sorted(alike, key=alike.__getitem__), alike.__getitem__):
        batch, failure = list(names_alike), None
        try:
            run_batch(lesson, batch, folder)
        except FAILURES as error:
            failure = error
        yield batch, failure


def how(lesson: Lesson, name: str) -> tuple[int, str, int, str, str]:
    """Return a key: jobs with the same one can run in one process, one after the other."""
    job = lesson.jobs[name]
    alone = "" if job.start == "together" else name
    return (len(lesson.needed(name)), job.start, job.ranks, str(job.environ), alone)


def run_batch(lesson: Lesson, names: list[str], folder: Path) -> None:
    starts = [prepare(lesson, name, folder) for name in names]
    job = lesson.jobs[names[0]]
    environ = environment(COURSE_GIT="planted", OPENBLAS_NUM_THREADS="1", **(meet() | job.environ))
    launcher = [*MPIRUN, str(job.ranks)] if job.ranks else []
    if job.start == "together":
        with_probes = [
            (folder, [program, *words[1:]])
            for (folder, words), name in zip(starts, names, strict=True)
            for program in (words[0], *["probe.py"] * lesson.jobs[name].probe)
        ]
        together(with_probes, launcher, environ)
    for folder, words in starts if job.start != "together" else []:
        ALONE[job.start]((folder, words), launcher, environ)
        if job.probe and job.start not in JOB_FILES:
            with (folder / "job.out").open("a") as out:
                command = [*launcher, sys.executable, "-u", "probe.py", *words[1:]]
                subprocess.run(
                    command, cwd=folder, env=environ, stdout=out, stderr=subprocess.DEVNULL,
                    timeout=300,
                )  # fmt: skip


def prepare(lesson: Lesson, name: str, folder: Path) -> Start:
    """Make the job's folder with the changed program and the files that it begins with."""
    job, own = lesson.jobs[name], folder / name
    own.mkdir(parents=True)
    if job.after:
        leave_out = shutil.ignore_patterns("job.out", "__pycache__")
        shutil.copytree(folder / job.after, own, ignore=leave_out, dirs_exist_ok=True)
    for file in (*lesson.source.glob("*.py"), *lesson.source.glob("*.sbatch")):
        shutil.copy(file, own)
    for file, text in patched(lesson.source, job.patch).items():
        (own / file).write_text(text, encoding="utf-8")
    for first in job.before:
        words = [sys.executable, *shlex.split(first)]
        subprocess.run(
            words, cwd=own, env=environment(), check=True, capture_output=True, timeout=120
        )
    words = shlex.split(job.run)
    if job.as_long_as:  # a step that computes as long as it takes to read a batch of this source
        runs = read_files([folder / job.after / "job.out"])
        [read] = [run for run in runs if run.header["source"] == job.as_long_as]
        words += ["--compute-ms", f"{1000 * read.epochs[-1].seconds.value / 100:.1f}"]
    return own, [job.program, *words]


def together(starts: list[Start], launcher: list[str], environ: dict[str, str]) -> None:
    """Run jobs on the same ranks, so that frameworks are loaded only once."""
    jobs = json.dumps([(str(folder), words) for folder, words in starts])
    done = subprocess.run(
        [*launcher, sys.executable, "-u", str(ONE_BY_ONE)],
        env=environ | {"ONE_BY_ONE": jobs},
        capture_output=True,
        text=True,
        timeout=120 + 60 * len(starts),
    )
    assert done.returncode == 0, done.stderr[-2000:]


def apart(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run a job in its own processes, so that its changes affect no other job."""
    folder, words = start
    with (folder / "job.out").open("w") as out:
        command = [*launcher, sys.executable, "-u", *words]
        done = subprocess.run(
            command, cwd=folder, env=environ, stdout=out, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def fails(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run a job that has to end with an error."""
    folder, words = start
    with (folder / "job.out").open("w") as out, (folder / "job.err").open("w") as err:
        command = [*launcher, sys.executable, "-u", *words]
        done = subprocess.run(command, cwd=folder, env=environ, stdout=out, stderr=err, timeout=300)
    assert done.returncode != 0, f"{folder.name} should have failed"


def lives(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Start a job again until it is complete, as a queue does, with one output for all lives."""
    folder, words = start
    for _ in range(4):
        with (folder / "job.out").open("a") as out:
            command = [*launcher, sys.executable, "-u", *words]
            done = subprocess.run(
                command, cwd=folder, env=environ, stdout=out, stderr=subprocess.PIPE, text=True,
                timeout=120,
            )  # fmt: skip
        if done.returncode == 0:
            return
    raise AssertionError(done.stderr[-2000:])


def job_file(way: str, start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run the job file of a way to start, without a queue."""
    folder, words = start
    launch = f'launch() {{ {shlex.join(launcher)} "$@"; }}'
    (folder / "site.sh").write_text(f'facts() {{ :; }}\nin_container() {{ "$@"; }}\n{launch}\n')
    own = environ | {"COURSE_SITE": str(folder / "site.sh"), "SLURM_JOB_ID": "7"}
    with (folder / "job.out").open("w") as out:
        command = ["bash", JOB_FILES[way], *words[1:]]
        done = subprocess.run(
            command, cwd=folder, env=own, stdout=out, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr[-2000:]


def hangs(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run a job that has to hang; stop it when Horovod reports that."""
    folder, words = start
    errors = folder / "job.err"
    with (folder / "job.out").open("w") as out, errors.open("w") as err:
        command = [*launcher, sys.executable, "-u", *words]
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=out, stderr=err)
    try:
        until = time.monotonic() + 120
        while STALLED not in errors.read_text():
            assert process.poll() is None, errors.read_text()[-2000:]
            assert time.monotonic() < until, f"{folder.name} should have stalled"
            time.sleep(0.5)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(timeout=30)


def strangers(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run two unconnected processes, and return what both print as one output."""
    folder, words = start
    with (folder / "job.out").open("wb") as sink:
        for _ in range(2):
            command = [*launcher, sys.executable, "-u", *words]
            done = subprocess.run(
                command, cwd=folder, env=environ, check=True, capture_output=True, timeout=120
            )
            sink.write(done.stdout)


def queued(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run a job in the laptop's queue, with the lesson's own job file."""
    folder, words = start
    own = environ | {"HOME": str(folder), "COURSE_LAPTOP_QUEUE": str(folder / "queue")}
    own["COURSE_SITE"] = str(site_files.FOLDER / "laptop.sh")
    command = [str(Path(sys.executable).with_name("cluster")), "submit"]
    command += ["--wait", "--output=job.out", "--error=job.err", "job.sbatch", *words[1:]]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def by_hand(start: Start, launcher: list[str], environ: dict[str, str]) -> None:
    """Run two processes at once without a launcher, with the variables of ranks in a job."""
    folder, words = start
    job = {"COURSE_SCHEDULER": "laptop", "SLURM_JOB_ID": "7", "OMPI_COMM_WORLD_SIZE": "2"}
    with (folder / "job.out").open("a") as out, (folder / "job.err").open("a") as err:
        processes = []
        for rank in "01":
            mine = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_LOCAL_RANK": rank}
            processes.append(
                subprocess.Popen(
                    [*launcher, sys.executable, "-u", *words],
                    cwd=folder,
                    env=environ | job | mine,
                    stdout=out,
                    stderr=err,
                )
            )
        codes = [process.wait(timeout=120) for process in processes]
    assert codes == [0, 0], (folder / "job.err").read_text()[-2000:]


ALONE: dict[str, Callable[[Start, list[str], dict[str, str]], None]] = {
    "apart": apart,
    "fails": fails,
    "lives": lives,
    "elastic": partial(job_file, "elastic"),
    "shards": partial(job_file, "shards"),
    "hangs": hangs,
    "strangers": strangers,
    "queued": queued,
    "by hand": by_hand,
}
