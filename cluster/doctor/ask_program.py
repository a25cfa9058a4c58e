"""Programs that a probe calls; whether one is there, and what it said."""

import shutil
import subprocess
import sys
from pathlib import Path


def answer(*words: str) -> tuple[int, str] | None:
    """Exit code and all that the program printed; None if there is no such program.

    Without a time limit: the probe as a whole has one, and what it started ends with it.
    """
    if not shutil.which(words[0]):
        return None
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout.decode(errors="replace").strip()


def beside_python(name: str) -> str | None:
    """A program of this environment, whether or not that is on PATH."""
    path = Path(sys.executable).parent / name
    return str(path) if path.is_file() else shutil.which(name)
