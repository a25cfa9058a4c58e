"""Define the environment variables with which a lesson's kernel and jobs find this course."""

import os
import sys
from pathlib import Path


def course_environment() -> dict[str, str]:
    """Return variables that put this course and this Python first, whatever else is installed."""
    first = {"PYTHONPATH": Path(__file__).parents[2], "PATH": Path(sys.executable).parent}
    found = {
        name: os.pathsep.join([str(folder), *filter(None, [os.environ.get(name)])])
        for name, folder in first.items()
    }
    return found | {"JUPYTER_PREFER_ENV_PATH": "1"}
