"""Check that a solved and executed lesson earns all points."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
    [found] = json.loads((tmp_path / "grades" / "grades.json").read_text())["grades"]
    assert found["score"] == found["max_score"] == 10, done.stdout
    assert found["tier"] == "self-consistent", done.stdout
    # Others use the machine too: a speed may be borderline, which is full credit and a look.
    statuses = {status for _, _, _, status in found["checks"]}
    assert done.returncode == int("borderline" in statuses), done.stdout + done.stderr
