"""Facts about where a program runs and who started it, for the run record."""

import os
import platform
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.cpus import usable_cpus
from autograder.slurm_notation import node_names
from cluster.launchers import launched, number
from lessons.toolkit.record import run_record
from lessons.toolkit.record.devices import device
from lessons.toolkit.record.started_by import in_proc, sees_all, started_by

Environ = Mapping[str, str]

LIBRARIES = ("numpy", "tensorflow", "tf_keras", "keras", "torch", "lightning", "horovod", "mpi4py")


def launcher(environ: Environ) -> str:
    """Return the launcher that started this process as one of several ranks, or "none".

    If launchers are nested, it is the innermost one.
    """
    launch = launched(environ)
    return launch.launcher if launch else "none"


def scheduler(environ: Environ) -> str:
    return environ.get("COURSE_SCHEDULER") or run_record.scheduler(environ)


def ranks_asked(environ: Environ) -> int | None:
    """Return the requested number of ranks, as the launcher or else the scheduler states it."""
    launch = launched(environ)
    return launch.size if launch else number(environ, ("SLURM_NTASKS", "SLURM_NPROCS"))


def hosts(environ: Environ) -> list[str]:
    """Return the node names from the scheduler, or only this node's name if there is none."""
    if nodes := environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST"):
        return node_names(nodes)
    try:
        return sorted(set(Path(environ["PBS_NODEFILE"]).read_text().split()))
    except (KeyError, OSError):
        return [socket.gethostname()]


def versions(environ: Environ) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        if version := getattr(sys.modules.get(name), "__version__", None):
            found[name] = str(version)
    if mpi := sys.modules.get("mpi4py.MPI"):
        found["mpi"] = re.split(r"[,\n]", mpi.Get_library_version())[0][:40]
    elif version := environ.get("OMPI_VERSION"):
        found["mpi"] = f"Open MPI {version}"
    if cuda := getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None):
        found["cuda"] = str(cuda)
    return found


def threads(which: str, environ: Environ) -> int:
    """Return the number of threads that one operation of this process may use."""
    if which == "torch":
        return int(sys.modules["torch"].get_num_threads())
    cores = len(usable_cpus())
    if which == "tensorflow":
        asked = sys.modules["tensorflow"].config.threading.get_intra_op_parallelism_threads()
        return int(asked) or int(environ.get("TF_NUM_INTRAOP_THREADS") or 0) or cores
    asked = environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else cores


def git_revision(environ: Environ) -> str | None:
    """Return the course's revision, with a + appended if files have changed.

    None if git cannot answer quickly.
    """
    if known := environ.get("COURSE_GIT"):
        return known
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run(
            [*command, "--abbrev=10", "--exclude=*"], capture_output=True, text=True, timeout=2
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def arguments(words: Sequence[str]) -> list[str] | None:
    """Return the program's arguments, so that the run can be repeated.

    Return None if the arguments are too long for one line.
    """
    fits = len(words) <= 32 and sum(len(word) + 3 for word in words) <= 300
    return list(words) if fits else None


def machine(which: str, environ: Environ) -> dict[str, Any]:
    """Return the facts about a launch that do not depend on the training."""
    return {
        "versions": versions(environ),
        "launcher": launcher(environ),
        "started_by": started_by(os.getpid(), in_proc, sees_all()),
        "scheduler": scheduler(environ),
        "site": environ.get("COURSE_SITE_NAME"),
        "job_id": environ.get("SLURM_JOB_ID") or environ.get("PBS_JOBID"),
        "hosts": hosts(environ),
        "device": device(which),
        "threads": threads(which, environ),
        "git": git_revision(environ),
        "arguments": arguments(sys.argv[1:]),
    }
