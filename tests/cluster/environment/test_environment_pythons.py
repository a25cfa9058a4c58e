"""The grader and the job tools with the oldest allowed packages, and on the newest Python here."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "tests/lessons/planted/outputs"
NEEDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
OLDEST = [need.partition(",")[0].replace(">=", "==") for need in NEEDS]


def python(version: str) -> Path | None:
    """Return a Python of this version that starts. One on PATH may be a broken pyenv shim."""
    name = f"python{version}"
    on_path = [Path(folder, name) for folder in os.get_exec_path()]
    for path in [*on_path, *Path.home().glob(f".pyenv/versions/{version}*/bin/{name}")]:
        if path.is_file() and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


def run(*words: object, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        env={name: os.environ[name] for name in os.environ.keys() - {"PYTHONPATH"}} | environment,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode in (0, 1), f"{words}: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files that people read. Hidden files depend on inodes and file ages."""
    files = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {str(name): f.read_bytes() for name, f in files.items() if name.parts[0][0] != "."}


# The pinned packages; without pins, pip installs the newest.
OLDEST_PYTHON, NEWEST_FIRST = "3.11", ("3.14", "3.13", "3.12", "3.11")


@pytest.mark.slow
@pytest.mark.parametrize("end", ["oldest", pytest.param("newest", marks=pytest.mark.nightly)])
def test_the_grader_alone_does_the_same(end, tmp_path):
    """Installed from a copy with `pip install .`, it grades as in the course's environment."""
    packages = OLDEST if end == "oldest" else []
    versions = (OLDEST_PYTHON,) if end == "oldest" else NEWEST_FIRST
    interpreter = next(filter(None, map(python, versions)))
    course, venv = tmp_path / "course", tmp_path / "venv"
    names = ("autograder", "cluster", "lessons", "pyproject.toml", "README.md")
    course.mkdir()
    for name in (*names, "LICENSE", "LICENSE-lessons.md"):
        run("cp", "-r", ROOT / name, course / name)
    run(interpreter, "-m", "venv", venv)
    pip = [venv / "bin/python", "-m", "pip", "install", "--quiet"]
    run(*pip, course, *packages)
    for number in ("02", "06"):
        for each, file in enumerate(sorted((KEPT / number).glob("*.out.txt"))[:6], start=1):
            folder = tmp_path / "class" / f"student{each}" / number
            folder.mkdir(parents=True)
            (folder / f"job_{each}.out").write_text(file.read_text().partition("\n")[2])
    grades = {}
    commands = {"here": [sys.executable, "-m", "autograder"], "there": [venv / "bin/autograder"]}
    for where, command in commands.items():
        out = tmp_path / where / "grades"
        rest = ("--out", out, "--profile", "smoke", "--jobs", "1")
        path = {"PYTHONPATH": str(ROOT)} if where == "here" else {}
        run(*command, "grade", tmp_path / "class", *rest, HOME=str(tmp_path), **path)
        grades[where] = tree(out)
    assert grades["here"].keys() == grades["there"].keys()
    assert len(grades["here"]) > 12
    assert [name for name, text in grades["here"].items() if text != grades["there"][name]] == []
    here = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    sites = run(venv / "bin/python", "-c", "from cluster.cli import main; main()", "sites", **here)
    assert "* laptop" in sites
