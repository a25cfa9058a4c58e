"""The grader and the job tools on Python 3.12, which is what newer software stages bring."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "tests/lessons/planted/outputs"
PINS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def python312() -> Path | None:
    """One that starts: of several that pyenv has, the one on PATH may not."""
    on_path = [Path(folder, "python3.12") for folder in os.get_exec_path()]
    for python in [*on_path, *Path.home().glob(".pyenv/versions/3.12*/bin/python3.12")]:
        if (
            python.is_file()
            and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
        ):
            return python
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
    """What people read. What begins with a dot knows files by inode, and by how new they were."""
    files = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {str(name): f.read_bytes() for name, f in files.items() if name.parts[0][0] != "."}


@pytest.mark.slow
@pytest.mark.skipif(python312() is None, reason="there is no Python 3.12 on this machine")
def test_the_pure_part_does_the_same_on_python_3_12(tmp_path):
    venv = tmp_path / "venv"
    run(python312(), "-m", "venv", venv)
    pip = [venv / "bin/python", "-m", "pip", "install", "--quiet"]
    run(*pip, "--constraint", ROOT / "cluster/environment/locked.txt", *PINS)
    for number in ("02", "06"):
        for each, file in enumerate(sorted((KEPT / number).glob("*.out.txt"))[:6], start=1):
            folder = tmp_path / "class" / f"student{each}" / number
            folder.mkdir(parents=True)
            (folder / f"job_{each}.out").write_text(file.read_text().partition("\n")[2])
    grades = {}
    for python in (sys.executable, venv / "bin/python"):
        out = tmp_path / Path(python).parents[1].name / "grades"
        here = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
        rest = ("--out", out, "--profile", "smoke", "--processes", "1")
        run(python, "-m", "autograder", "grade", tmp_path / "class", *rest, **here)
        sites = run(python, "-c", "from cluster.cli import main; main()", "sites", **here)
        assert "* laptop" in sites
        grades[str(python)] = tree(out)
    ours, theirs = grades.values()
    assert ours.keys() == theirs.keys()
    assert len(ours) > 12
    assert [name for name in ours if ours[name] != theirs[name]] == []
