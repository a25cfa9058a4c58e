"""Check this machine's Python and compiler before any download."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from cluster.environment.failure import SetUpError

APT = "on Debian or Ubuntu: sudo apt install g++ make python3-dev"


def check_python() -> None:
    """Raise SetUpError if this Python cannot make a virtual environment for the course."""
    if not sys.platform.startswith("linux"):
        raise SetUpError("this course runs on Linux; elsewhere use a Linux container or WSL")
    for module in ("venv", "ensurepip"):
        if find_spec(module) is None:
            raise SetUpError(
                f"{sys.executable} lacks {module}; on Debian or Ubuntu: "
                "sudo apt install python3-venv"
            )


def check(root: Path, parts: Iterable[str]) -> None:
    """Raise SetUpError if these parts cannot be installed on this machine."""
    if not (root / ".venv").exists():
        check_python()
    if "horovod" in parts:
        check_compiler()
    elif missing := missing_tools():
        print(
            f"  Note: {' and '.join(missing)} not found. The demo and most lessons work without; "
            f"lessons 07 to 09 and `make test` compile Horovod and need that ({APT}).",
            flush=True,
        )


def missing_tools() -> list[str]:
    """Return what compiling Horovod needs and this machine lacks."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    needed = (os.environ.get("CXX", "c++"), "make")
    programs = [program for program in needed if shutil.which(program) is None]
    return programs + ([] if header.exists() else ["Python.h"])


def check_compiler() -> None:
    """Raise SetUpError if the compiler, make or Python's header files are missing."""
    if missing := missing_tools():
        raise SetUpError(
            f"Horovod has to be compiled, but there is no {' and no '.join(missing)}; install a C++"
            f" compiler, make and Python's header files ({APT}; on a cluster: module load gcc)"
        )
