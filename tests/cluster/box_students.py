"""Helpers for tests on the box: its command, and an ordinary student who works on it."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COURSE = Path(__file__).parents[2]
BOX = COURSE / "cluster/box/box"
# Typed before the course's commands, instead of `cluster use box`.
ON_BOX = f"module load dl-course && export COURSE_SITE={COURSE}/cluster/sites/box.sh"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}


def run_box(*words: str, seconds: int = 120) -> subprocess.CompletedProcess:
    """Run `box WORDS…` as the user who runs the tests; up and down need root."""
    words = ("timeout", "-k", "5", str(seconds), "bash", str(BOX), *words)
    return subprocess.run(words, capture_output=True, text=True)


@dataclass(frozen=True)
class Student:
    """An account whose commands run in a login shell, in a folder of its own home."""

    name: str
    folder: str

    def try_to(self, command: str, seconds: int = 60) -> subprocess.CompletedProcess:
        command = f"cd {self.folder} && {command}"
        words = ["timeout", "-k", "5", str(seconds), "runuser", "-l", self.name, "-c", command]
        return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def do(self, command: str, seconds: int = 60) -> str:
        done = self.try_to(command, seconds)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def write(self, name: str, text: str) -> None:
        words = ["runuser", "-u", self.name, "--", "tee", f"{self.folder}/{name}"]
        subprocess.run(words, input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    def read(self, name: str) -> str:
        return (Path(self.folder) / name).read_text()

    def submit(self, options: str, script: str) -> str:
        """Submit a job that runs the script's lines, and return its number."""
        self.write("job.sh", "#!/bin/bash\nset -eu\n" + script + "\n")
        return self.do(f"sbatch --parsable {options} job.sh").strip()

    def wait(self, job: str, seconds: float = 60) -> dict[str, str]:
        """Wait until the job has ended, and return its accounting."""
        end = time.monotonic() + seconds
        while (row := self.account(job)).get("state", "").split(" ")[0] not in ENDED:
            assert time.monotonic() < end, f"job {job} has not ended: {row}"
            time.sleep(0.3)
        return row

    def account(self, job: str) -> dict[str, str]:
        names = "jobid,user,account,state,exitcode,nnodes,nodelist,elapsedraw,alloctres"
        # Not in a login shell, which takes twenty times as much processor time: `wait` asks often.
        words = ["runuser", "-u", self.name, "--", "sacct", "-XPn", f"-j{job}", f"--format={names}"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
        lines = done.stdout.splitlines()
        return dict(zip(names.split(","), lines[-1].split("|"), strict=True)) if lines else {}


def clear_what_interrupted_tests_left() -> None:
    """End the jobs and processes of the first two students, and empty their homes."""
    for name in ("student1", "student2"):
        subprocess.run(["scancel", f"--user={name}"], check=True)
        end = time.monotonic() + 60
        while subprocess.run(["squeue", "-h", f"--user={name}"], stdout=subprocess.PIPE).stdout:
            assert time.monotonic() < end, f"jobs of {name} do not end"
            time.sleep(0.2)
        account = pwd.getpwnam(name)
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # already ended
                if process.stat().st_uid == account.pw_uid:
                    os.kill(int(process.name), signal.SIGKILL)
        for path in Path(account.pw_dir).iterdir():
            if path.name == ".cache" or Path("/etc/skel", path.name).exists():
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


@contextmanager
def student_named(name: str) -> Iterator[Student]:
    as_student = ["runuser", "-u", name, "--"]
    make = [*as_student, "mktemp", "-d", f"{pwd.getpwnam(name).pw_dir}/test-XXXXXX"]
    made = subprocess.run(make, capture_output=True, text=True, check=True)
    someone = Student(name, made.stdout.strip())
    yield someone
    subprocess.run([*as_student, "rm", "-rf", someone.folder], check=True)
