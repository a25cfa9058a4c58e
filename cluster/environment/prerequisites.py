"""Check this machine's Python, compiler and disk space before any download."""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from cluster.environment.failure import SetUpError

GIGABYTES = 3  # the course's packages and their downloads
GIGABYTES_MORE = {"horovod": 1, "tools": 1}
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
        needed = GIGABYTES + sum(GIGABYTES_MORE[part] for part in parts)
        free = shutil.disk_usage(root).free / 1e9
        if free < needed:
            raise SetUpError(
                f"{root} has {free:.1f} GB of free space and the set-up needs about {needed}; "
                "free some, or clone the course to another disk"
            )
    if "horovod" in parts:
        check_compiler()
    elif missing := missing_tools():
        print(
            f"  Note: {' and '.join(missing)} not found. The demo and most lessons work without; "
            f"lessons 07 to 09 and `make test` compile Horovod and need that ({APT}).",
            flush=True,
        )


def compiler() -> str:
    return os.environ.get("CXX", "c++")


def missing_tools() -> list[str]:
    """Return what compiling Horovod needs and this machine lacks."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    programs = [program for program in (compiler(), "make") if shutil.which(program) is None]
    return programs + ([] if header.exists() else ["Python.h"])


def check_compiler() -> None:
    """Raise SetUpError if the compiler, make or Python's header files are missing."""
    if missing := missing_tools():
        raise SetUpError(
            f"Horovod has to be compiled, but there is no {' and no '.join(missing)}; install a C++"
            f" compiler, make and Python's header files ({APT}; on a cluster: module load gcc)"
        )
