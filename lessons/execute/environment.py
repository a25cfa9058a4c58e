"""Define the environment variables with which a lesson's kernel and jobs find this course."""

import os
import sys
from pathlib import Path


def course_environment() -> dict[str, str]:
    """Return variables that put this course and this Python first, whatever else is installed."""
    return {
        "PYTHONPATH": first_in("PYTHONPATH", str(Path(__file__).parents[2])),
        "PATH": first_in("PATH", str(Path(sys.executable).parent)),  # for python and mpirun
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def first_in(variable: str, folder: str) -> str:
    return os.pathsep.join([folder, *filter(None, [os.environ.get(variable)])])
