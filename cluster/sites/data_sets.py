"""Ask the course's own command which data sets this machine has."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

FETCH = "on a machine with internet: lessons data fetch (docs/install.md)"


def found(seconds: float | None = None) -> tuple[str, bool] | None:
    """Return how many files are in which state, and whether all are there; None without an answer.

    The command of this environment is used, whether or not the environment is on PATH.
    """
    beside = Path(sys.executable).with_name("lessons")
    program = str(beside) if beside.is_file() else shutil.which("lessons")
    if not program:
        return None
    words = [program, "data", "status", "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
        states = Counter(row["state"] for row in json.loads(done.stdout))
    except (subprocess.TimeoutExpired, ValueError):
        return None
    counts = ", ".join(f"{number} files {state}" for state, number in states.items())
    return counts, not states.keys() & {"missing", "broken"}
