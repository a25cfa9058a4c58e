"""A lesson's program on real ranks, what the grader says of it, and its diff to another."""

import difflib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.reading.files import read_files

ROOT = Path(__file__).parents[2]


def changed(old: Iterable[Path], new: Iterable[Path]) -> int:
    """Lines that one program has and the other has not; gap markers do not count."""
    texts = [
        [line for path in paths for line in path.read_text().splitlines() if "### " not in line]
        for paths in (old, new)
    ]
    lines = difflib.unified_diff(*texts, n=0, lineterm="")
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in lines)


def environment(**more: str) -> dict[str, str]:
    """For ranks that share the cores of one machine."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environ |= {"OMPI_MCA_mpi_yield_when_idle": "1"} | more
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    return environ


def run(
    program: Path, ranks: int, *arguments: str, out: Path, launcher: str = "mpirun", **env: str
):
    """The record of a program on real ranks, run in the folder `out`."""
    environ = environment(**env)
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


def run_one_by_one(
    lesson: Path, programs: Mapping[str, str], ranks: int, *arguments: str, out: Path, **env: str
) -> dict[str, Path]:
    """The output of each program (name -> its text), all run by the same ranks."""
    for name, text in programs.items():
        (out / f"{name}.py").write_text(text)
    start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]
    driver = [sys.executable, "-u", str(Path(__file__).parent / "ranks" / "one_by_one.py")]
    done = subprocess.run(
        [*start, *driver, str(lesson), str(out), *arguments],
        env=environment(**env), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {name: out / f"{name}.out" for name in programs}


def planted(program: Path, changes: Iterable[tuple[str, str]]) -> str:
    """The program's text with each change made, which has to fit in one place."""
    text = program.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def asked(text: str, *words: object) -> str:
    """The program's text with these words for its arguments, whatever the command line says."""
    assert text.count("parser.parse_args()") == 1
    return text.replace("parser.parse_args()", f"parser.parse_args({[*map(str, words)]})")


def grade_class(
    outputs: Mapping[str, Mapping[str, Path]], lesson: str, folder: Path
) -> dict[str, dict[str, Any]]:
    """Each student's grade, from the outputs (student -> name -> file), in the smoke profile."""
    for student, files in outputs.items():
        (folder / "class" / student / lesson).mkdir(parents=True)
        for name, file in files.items():
            shutil.copy(file, folder / "class" / student / lesson / name)
    command = [Path(sys.executable).parent / "autograder", "grade", folder / "class"]
    done = subprocess.run(
        [*command, "--out", folder / "grades", "--profile", "smoke"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    records = [json.loads(file.read_text()) for file in (folder / "grades" / "records").glob("*")]
    return {record["student"]: record["grades"][0] for record in records}


def reasons(grade: Mapping[str, Any]) -> dict[str, str]:
    """Of each check that lost points, answers left out, what the student reads."""
    return {
        check["id"]: f"{check['title']}: {check['expected']}; {check['found']}; {check['try_']}"
        for check in grade["checks"]
        if check["score"] < check["points"] and check["id"] != "answers"
    }


def points_of(grade: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Score and points of each check."""
    return {check["id"]: (check["score"], check["points"]) for check in grade["checks"]}


def lost(points: dict[str, tuple[float, float]]) -> set[str]:
    return {name for name, (score, most) in points.items() if score < most} - {"answers"}
