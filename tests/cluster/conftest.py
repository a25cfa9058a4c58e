"""A home folder for each test, the `cluster` command as a user runs it, and the box."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.sites import site_files
from tests.cluster.box_students import clear_what_interrupted_tests_left, run_box

PROGRAMS = Path(sys.executable).parent
WAIT = """
import sys
from cluster.jobs.submit import on_error_stream
from cluster.jobs.wait import exit_if_failed, wait_for
from cluster.sites.site_files import current
exit_if_failed(wait_for(sys.argv[1], current(), on_error_stream))
"""


class Shell:
    """A user in a folder, who runs commands there and writes job files."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        kept = ("SLURM_", "SBATCH_", "COURSE_", "OMPI_", "PMIX_", "PRTE_")
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(kept)
        }
        self.environment |= {"HOME": str(home)}
        self.environment["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"

    def run(self, *words: object, ok: bool | None = True) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        if ok is not None:
            assert (done.returncode == 0) == ok, f"{words}: {done.stdout}{done.stderr}"
        return done

    def cluster(self, *words: object, ok: bool | None = True) -> subprocess.CompletedProcess:
        return self.run(PROGRAMS / "cluster", *words, ok=ok)

    def choose(self, site: str) -> None:
        """Choose a site as `cluster use` does, without its questions and without an account."""
        file = self.home / ".dl-course/site.sh"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"source {site_files.FOLDER}/{site}.sh\n")

    def write(self, name: str, body: str, *directives: str) -> str:
        lines = ["#!/bin/bash", *(f"#SBATCH {directive}" for directive in directives), body]
        (self.folder / name).write_text("\n".join(lines) + "\n")
        return name

    def until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until other processes have fulfilled the condition. Fail if that takes too long."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.05)

    def at(self, site: str, *words: object, ok: bool | None = True) -> subprocess.CompletedProcess:
        """Run a `cluster` command on a machine whose site is this one."""
        here = self.environment
        self.environment = here | {"COURSE_SITE": str(site_files.FOLDER / f"{site}.sh")}
        try:
            return self.cluster(*words, ok=ok)
        finally:
            self.environment = here

    def word(self, name: str, *words: object, ok: bool | None = True) -> str:
        """Run one of Slurm's commands as the laptop answers it, and return what it printed."""
        done = self.run(site_files.LAPTOP_BIN / name, *words, ok=ok)
        return done.stdout + done.stderr

    def submit(self, *words: object) -> str:
        """Submit a job to the laptop site, and return its id."""
        return self.at("laptop", "submit", *words).stdout.split()[-1]

    def wait(self, job: str, ok: bool | None = True) -> str:
        """Wait as `sbatch --wait` does, and return what that prints."""
        return self.run(sys.executable, "-c", WAIT, job, ok=ok).stderr

    def record(self, job: str) -> dict[str, str]:
        """Return the job's record from `sacct`."""
        names, values = self.word("sacct", "-X", "-P", "-j", job).splitlines()
        return dict(zip(names.split("|"), values.split("|"), strict=True))

    def job_json(self, job: str) -> dict:
        return json.loads((self.home / f".dl-course/laptop/jobs/{job}/job.json").read_text())

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    home, folder = tmp_path / "home", tmp_path / "lesson"
    home.mkdir()
    folder.mkdir()
    shell = Shell(home, folder)
    shell.choose("laptop")
    return shell


@pytest.fixture(scope="session")
def box():
    """Start the box and yield its command; take it down afterwards if it was down before."""
    was_up = run_box("status").returncode == 0
    done = run_box("up", seconds=300)
    assert done.returncode == 0, done.stderr
    clear_what_interrupted_tests_left()
    yield run_box
    if not was_up:
        run_box("down")
