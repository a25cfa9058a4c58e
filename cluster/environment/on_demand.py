"""Install Horovod when a lesson first needs it."""

import importlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from cluster.environment.failure import SetUpError

ROOT = Path(__file__).resolve().parents[2]


def provide_horovod() -> None:
    """Compile and install Horovod if the course's own .venv lacks it.

    Any other environment (conda, a site's modules, a .venv that belongs to another user) is left
    as it is.
    """
    if find_spec("horovod") or not is_ours(Path(sys.prefix)):
        return
    print("Horovod is not installed yet, and this needs it.", flush=True)
    command = [sys.executable, "-m", "cluster.environment", "horovod"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout
    printed = ""
    # By character, because a stage shows its title long before its line ends; with print() instead
    # of an inherited stream, because a notebook shows only what Python prints.
    while character := process.stdout.read(1):
        printed += character
        print(character, end="", flush=character in ".\n")
    if process.wait():
        raise SetUpError(printed.strip().rpartition("\n")[2])
    importlib.invalidate_caches()


def is_ours(prefix: Path) -> bool:
    """Return whether the set-up created this environment and this user can change it."""
    stamps = prefix / ".set-up"
    return stamps.is_dir() and os.access(stamps, os.W_OK)
