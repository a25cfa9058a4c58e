"""Check that a solved and executed lesson earns all points."""

import json
import os
import subprocess
import sys
from pathlib import Path

from autograder.codes import ReasonCode

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent


def course(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}"}
    return subprocess.run(
        command.split(), env=env, cwd=ROOT, capture_output=True, text=True, timeout=600
    )


def earns_all_points(lesson: str, folder: Path, tmp_path: Path) -> None:
    """Check the points. tmp_path: a folder for the packed lesson and the grades."""
    packed = f"lessons submit {lesson} --in {folder} --out {tmp_path}/down/ada.zip"
    collected = f"autograder collect {tmp_path}/down --from folders --into {tmp_path}/class"
    for command in (packed, collected):
        done = course(command, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    grade = f"autograder grade {tmp_path}/class --profile smoke --out {tmp_path}/grades"
    done = course(grade, tmp_path)
    [record] = (tmp_path / "grades" / "records").glob("*.json")
    [found] = json.loads(record.read_text())["grades"]
    assert points_lost(found) == {}, done.stdout
    assert found["max_score"] == 10
    assert found["tier"] == "self-consistent", done.stdout
    # Others use the machine too: a speed may be borderline, which is full credit and a look.
    statuses = {check["status"] for check in found["checks"]}
    assert done.returncode == int(statuses != {"passed"}), done.stdout + done.stderr


def points_lost(grade: dict) -> dict[str, str]:
    """Return the ids of checks that lost points, with what was found.

    A job that has to run again on a less busy machine has lost nothing yet.
    """
    return {
        check["id"]: check["found"]
        for check in grade["checks"]
        if check["status"] not in ("passed", "borderline")
        and not any(part["code"] == ReasonCode.TOO_NOISY for part in check["parts"])
    }
