"""Ask the course's own command which data sets this machine has."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

FETCH = "on a machine with internet: lessons data fetch (docs/install.md)"


@dataclass(frozen=True)
class DataSets:
    files: dict[str, int]  # state of a file -> number of files

    @property
    def complete(self) -> bool:
        return not self.files.keys() & {"missing", "broken"}

    def __str__(self) -> str:
        return ", ".join(f"{number} files {state}" for state, number in self.files.items())


def found(seconds: float | None = None) -> DataSets | None:
    """Return the states that `lessons data status` prints; None without an answer in time.

    The command of this environment is used, whether or not the environment is on PATH.
    """
    beside = Path(sys.executable).with_name("lessons")
    program = str(beside) if beside.is_file() else shutil.which("lessons")
    if not program:
        return None
    words = [program, "data", "status", "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
        return DataSets(Counter(row["state"] for row in json.loads(done.stdout)))
    except (subprocess.TimeoutExpired, ValueError):
        return None
