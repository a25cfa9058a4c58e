"""A lesson's program on real ranks, what the grader says of it, and its diff to another."""

import difflib
import json
import os
import subprocess
import sys
from pathlib import Path

from autograder.read import read_files

ROOT = Path(__file__).parents[2]


def changed(old: Path, new: Path) -> int:
    """Lines that one program has and the other has not; gap markers do not count."""
    texts = [
        [line for line in path.read_text().splitlines() if "### " not in line]
        for path in (old, new)
    ]
    lines = difflib.unified_diff(*texts, n=0, lineterm="")
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in lines)


def run(
    program: Path, ranks: int, *arguments: str, out: Path, launcher: str = "mpirun", **env: str
):
    """The record of a program on real ranks, run in the folder `out`."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environ |= {"OMPI_MCA_mpi_yield_when_idle": "1"} | env
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    start = {
        "mpirun": ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)],
        "gloo": ["horovodrun", "--gloo", "-np", str(ranks), "-H", f"localhost:{ranks}"],
    }[launcher]
    with (out / "job.out").open("w") as sink:
        done = subprocess.run(
            [*start, sys.executable, "-u", str(program), *arguments],
            cwd=out, env=environ, stdout=sink, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    [found] = read_files([out / "job.out"])
    return found


def grade(folder: Path, lesson: str) -> dict[str, tuple[float, float]]:
    """Score and points of each check for the outputs in a folder, in the smoke profile."""
    out = folder.parent / "grades"
    command = [Path(sys.executable).parent / "autograder", "grade", folder, "--out", out]
    more = ["--lesson", lesson, "--student", "you", "--profile", "smoke", "--processes", "1"]
    done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    [record] = (out / "records").glob("*.json")
    [found] = json.loads(record.read_text())["grades"]
    return {check["id"]: (check["score"], check["points"]) for check in found["checks"]}


def lost(points: dict[str, tuple[float, float]]) -> set[str]:
    return {name for name, (score, most) in points.items() if score < most} - {"answers"}
