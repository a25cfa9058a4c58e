"""Facts about where a program runs and who started it, for the run record."""

import hashlib
import multiprocessing
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
from lessons.toolkit.record.devices import device
from lessons.toolkit.record.started_by import in_proc, sees_all, started_by

Environ = Mapping[str, str]

LIBRARIES = ("numpy", "tensorflow", "tf_keras", "keras", "torch", "lightning", "horovod", "mpi4py")


def launcher(environ: Environ) -> str:
    """Return the launcher that started this process as one of several.

    If launchers are nested, it is the innermost one.
    """
    launch = launched(environ)
    return launch.launcher if launch else "none"


def scheduler(environ: Environ) -> str:
    if name := environ.get("COURSE_SCHEDULER"):
        return name
    if "SLURM_JOB_ID" in environ:
        return "slurm"
    return "pbs" if "PBS_JOBID" in environ else "none"


def ranks_asked(environ: Environ) -> int | None:
    """Return the number of ranks requested from the launcher, or else from the scheduler."""
    launch = launched(environ)
    return launch.size if launch else number(environ, ("SLURM_NTASKS", "SLURM_NPROCS"))


def launch_id(environ: Environ, size: int) -> str:
    """Return eight hex digits: the same in all ranks of a launch, others in other launches.

    Ranks exchange no message for it: the parts are values that each launcher gives to all of its
    processes. A program that considers itself the only rank is a run of its own, even if a launcher
    started it N times.
    """
    job = [environ.get("SLURM_JOB_ID") or environ.get("PBS_JOBID") or ""]
    kind = launcher(environ) if size > 1 else "none"
    if kind == "torchrun" and "TORCHELASTIC_RUN_ID" in environ:
        names = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")
        parts = [environ.get(name, "") for name in (*names, "SLURM_STEP_ID")]
        if environ.get("GROUP_WORLD_SIZE") == "1":  # one node: torchrun is the parent of all ranks
            parts.append(birth(os.getppid()))
    elif kind == "horovodrun" and "HOROVOD_GLOO_RENDEZVOUS_PORT" in environ:
        parts = [environ[f"HOROVOD_GLOO_RENDEZVOUS_{part}"] for part in ("ADDR", "PORT")]
    elif kind == "mpirun":
        parts = [environ.get("PMIX_NAMESPACE") or environ.get("OMPI_MCA_ess_base_jobid", "")]
        if environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == environ["OMPI_COMM_WORLD_SIZE"]:
            # The name holds mpirun's process id, which may recur; its start time does not.
            parts += [birth(int(pid)) for pid in re.findall(r"-(\d+)@", parts[0])]
    elif kind == "mpiexec" and environ.get("PALS_APID"):
        parts = [environ["PALS_APID"]]
    elif kind in ("srun", "mpiexec") and environ.get("SLURM_STEP_ID"):
        parts = [environ["SLURM_STEP_ID"], environ.get("SLURM_RESTART_COUNT", "")]
    elif size > 1 and (parent := multiprocessing.parent_process()) and parent.pid:
        parts = [birth(parent.pid)]
    else:  # one process: any value that no other process has
        parts = [os.urandom(8).hex()]
    return hashlib.blake2b("\0".join([kind, *job, *parts]).encode()).hexdigest()[:8]


def birth(pid: int) -> str:
    """Return the process id, its start in clock ticks since boot, and the boot's id.

    No two processes share all three.
    """
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{pid} {ticks} {boot}"
    except (OSError, IndexError):
        return str(pid)


def hosts(environ: Environ) -> list[str]:
    """Return the names of the nodes from the scheduler, or else only this node's name."""
    if nodes := environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST"):
        return node_names(nodes)
    try:
        return sorted(set(Path(environ["PBS_NODEFILE"]).read_text().split()))
    except (KeyError, OSError):
        return [socket.gethostname()]


def framework(source: str) -> str:
    """Return the framework in use, if it is loaded. If both are loaded, `source` decides."""
    loaded = [name for name in ("tensorflow", "torch") if name in sys.modules]
    if len(loaded) == 2:
        return "torch" if "torch" in source else "tensorflow"
    if loaded:
        return loaded[0]
    return "numpy" if "numpy" in sys.modules else "python"


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
    """Return the course's revision, with a + if files were changed.

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

    None if they are too long for one line.
    """
    fits = len(words) <= 32 and sum(len(word) + 3 for word in words) <= 300
    return list(words) if fits else None


def machine(which: str, environ: Environ) -> dict[str, Any]:
    """Return the facts of one launch that do not depend on the training."""
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
