"""Check that a solved and executed lesson earns all points."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from click.testing import CliRunner, Result

from autograder.cli import main as autograder_main
from autograder.codes import ReasonCode
from lessons.cli import main as lessons_main

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent


def course(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(
        command.split(), env=env, cwd=ROOT, capture_output=True, text=True, timeout=600
    )


def in_this_process(main: click.Group, words: Iterable[object], home: Path) -> Result:
    """Run a command without a new Python. Importing takes most of a new one's time."""
    return CliRunner().invoke(main, [str(word) for word in words], env={"HOME": str(home)})


def earns_all_points(lesson: str, folder: Path, tmp_path: Path) -> None:
    """Check the points. tmp_path: a folder for the packed lesson and the grades."""
    down, classroom = tmp_path / "down", tmp_path / "class"
    packed = ("submit", lesson, "--in", folder, "--out", down / "ada.zip")
    collected = ("collect", down, "--from", "folders", "--into", classroom)
    for main, words in ((lessons_main, packed), (autograder_main, collected)):
        done = in_this_process(main, words, tmp_path)
        assert done.exit_code == 0, done.output
    grade = ("grade", classroom, "--profile", "smoke", "--out", tmp_path / "grades")
    done = in_this_process(autograder_main, grade, tmp_path)
    [record] = (tmp_path / "grades" / "records").glob("*.json")
    [found] = json.loads(record.read_text())["grades"]
    assert points_lost(found) == {}, done.output
    assert found["max_score"] + found["waiting"] == 10
    assert found["tier"] == "self-consistent", done.output
    # Others use the machine too: a speed may be borderline, which is full credit and a look.
    statuses = {check["status"] for check in found["checks"]}
    assert done.exit_code == int(statuses != {"passed"}), done.output


def points_lost(grade: dict) -> dict[str, str]:
    """Return the ids of checks that lost points, with what was found.

    A job that has to run again on a less busy machine has lost nothing yet, and neither has a check
    that the instructor decides by hand.
    """
    return {
        check["id"]: check["actual"]
        for check in grade["checks"]
        if check["status"] not in ("passed", "borderline", "waits")
        and not any(part["code"] == ReasonCode.TOO_NOISY for part in check["parts"])
    }
