"""Run a lesson's program on real ranks, or compare it with another program."""

import contextlib
import difflib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.reading.files import read_files

ROOT = Path(__file__).parents[2]
ONE_BY_ONE = Path(__file__).parent / "ranks" / "one_by_one.py"


def added(old: Iterable[Path], new: Iterable[Path]) -> int:
    """Return the number of lines that a program adds, without blank lines and gap markers."""
    texts = [
        [line for path in paths for line in path.read_text().splitlines() if "### " not in line]
        for paths in (old, new)
    ]
    lines = difflib.unified_diff(*texts, n=0, lineterm="")
    return sum(line[:1] == "+" and line[:3] != "+++" and line[1:].strip() != "" for line in lines)


def copy_changed(lesson: Path, folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Copy a lesson's programs, change one of them, and return its path.

    changes: texts that are in the program once, and what replaces them.
    """
    folder.mkdir(exist_ok=True)
    for file in lesson.glob("*.py"):
        shutil.copy(file, folder)
    program = folder / name
    text = program.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    program.write_text(text, encoding="utf-8")
    return program


def environment(**more: str) -> dict[str, str]:
    """Return an environment for ranks that share the cores of one machine."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environ |= {"OMPI_MCA_mpi_yield_when_idle": "1"} | more
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    return environ


def meet() -> dict[str, str]:
    """Return an address for ranks that most likely no other job here uses."""
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(random.randrange(20000, 30000))}


def run_group(command: Sequence[object], seconds: float, **options) -> tuple[int, str, str]:
    """Return exit status, output and errors. After so many seconds, end all its processes."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        **options,
    )  # fmt: skip
    try:
        printed, errors = process.communicate(timeout=seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, printed, errors


def launch(ranks: int, launcher: str) -> list[str]:
    """Return the beginning of the command that starts so many ranks."""
    return {
        "mpirun": ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)],
        "gloo": ["horovodrun", "--gloo", "-np", str(ranks), "-H", f"localhost:{ranks}"],
        "torchrun": ["torchrun", "--no-python", f"--nproc-per-node={ranks}"],
    }[launcher]


def run(
    program: Path, ranks: int, *arguments: str, out: Path, launcher: str = "mpirun", **env: str
):
    """Run a program on real ranks in the folder `out`, and return its record."""
    with (out / "job.out").open("w") as sink:
        done = subprocess.run(
            [*launch(ranks, launcher), sys.executable, "-u", str(program), *arguments],
            cwd=out, env=environment(**env), stdout=sink, stderr=subprocess.PIPE, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    [found] = read_files([out / "job.out"])
    return found


def run_together(
    ranks: int,
    starts: Sequence[tuple[Path, Path, Sequence[str]]],
    launcher: str = "mpirun",
    **env: str,
):
    """Return the record of each start (folder, program, arguments); frameworks load only once.

    It is None for a program that writes none, and for one that ended early with sys.exit, it is
    what all ranks said. Starts in one folder share its output and checkpoints.
    """
    jobs = [(str(folder), [str(program), *words]) for folder, program, words in starts]
    command = [*launch(ranks, launcher), sys.executable, "-u", ONE_BY_ONE]
    environ = environment(ONE_BY_ONE=json.dumps(jobs), **env)
    status, _, errors = run_group(command, 120 + 60 * len(starts), env=environ)
    assert status == 0, errors[-2000:]
    folders = dict.fromkeys(folder for folder, *_ in starts)
    records = {folder: iter(read_files([folder / "job.out"])) for folder in folders}
    said = [folder / f"ended_{number}.txt" for number, (folder, *_) in enumerate(starts)]
    return [
        file.read_text() if file.exists() else next(records[folder], None)
        for file, (folder, *_) in zip(said, starts, strict=True)
    ]
