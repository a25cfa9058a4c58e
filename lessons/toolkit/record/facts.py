"""Where a program runs and who started it: what the run record says beside the training itself."""

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
    """Who started this process as one of several: the innermost of nested launchers."""
    launch = launched(environ)
    return launch.launcher if launch else "none"


def scheduler(environ: Environ) -> str:
    if name := environ.get("COURSE_SCHEDULER"):
        return name
    if "SLURM_JOB_ID" in environ:
        return "slurm"
    return "pbs" if "PBS_JOBID" in environ else "none"


def ranks_asked(environ: Environ) -> int | None:
    """How many ranks the launcher, or without one the scheduler, was asked for."""
    launch = launched(environ)
    return launch.size if launch else number(environ, ("SLURM_NTASKS", "SLURM_NPROCS"))


def launch_id(environ: Environ, size: int) -> str:
    """Eight hex digits: the same in all ranks of a launch, another for each launch.

    No message is exchanged: the parts are what each launcher gives to all of its processes. A
    program that believes to be alone is a run of its own, even if a launcher started it N times.
    """
    job = [environ.get("SLURM_JOB_ID") or environ.get("PBS_JOBID") or ""]
    kind = launcher(environ) if size > 1 else "none"
    if kind == "torchrun" and "TORCHELASTIC_RUN_ID" in environ:
        names = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")
        parts = [environ.get(name, "") for name in (*names, "SLURM_STEP_ID")]
        if environ.get("GROUP_WORLD_SIZE") == "1":  # one node: torchrun is everybody's parent
            parts.append(birth(os.getppid()))
    elif kind == "horovodrun" and "HOROVOD_GLOO_RENDEZVOUS_PORT" in environ:
        parts = [environ[f"HOROVOD_GLOO_RENDEZVOUS_{part}"] for part in ("ADDR", "PORT")]
    elif kind == "mpirun":
        parts = [environ.get("PMIX_NAMESPACE") or environ.get("OMPI_MCA_ess_base_jobid", "")]
        if environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == environ["OMPI_COMM_WORLD_SIZE"]:
            # The name holds mpirun's process id, which comes again; its time of birth does not.
            parts += [birth(int(pid)) for pid in re.findall(r"-(\d+)@", parts[0])]
    elif kind == "mpiexec" and environ.get("PALS_APID"):
        parts = [environ["PALS_APID"]]
    elif kind in ("srun", "mpiexec") and environ.get("SLURM_STEP_ID"):
        parts = [environ["SLURM_STEP_ID"], environ.get("SLURM_RESTART_COUNT", "")]
    elif size > 1 and (parent := multiprocessing.parent_process()) and parent.pid:
        parts = [birth(parent.pid)]
    else:  # one process: whatever is unlike anything else
        parts = [os.urandom(8).hex()]
    return hashlib.blake2b("\0".join([kind, *job, *parts]).encode()).hexdigest()[:8]


def birth(pid: int) -> str:
    """Process id, start in clock ticks since boot, and the boot: no two processes share them."""
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{pid} {ticks} {boot}"
    except (OSError, IndexError):
        return str(pid)


def hosts(environ: Environ) -> list[str]:
    """Names of the nodes as the scheduler tells them, else only this one."""
    if nodes := environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST"):
        return node_names(nodes)
    try:
        return sorted(set(Path(environ["PBS_NODEFILE"]).read_text().split()))
    except (KeyError, OSError):
        return [socket.gethostname()]


def framework(source: str) -> str:
    """The framework in use, as far as loaded; `source` decides where both are."""
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
    """Threads that one operation of this process may use."""
    if which == "torch":
        return int(sys.modules["torch"].get_num_threads())
    cores = len(usable_cpus())
    if which == "tensorflow":
        asked = sys.modules["tensorflow"].config.threading.get_intra_op_parallelism_threads()
        return int(asked) or int(environ.get("TF_NUM_INTRAOP_THREADS") or 0) or cores
    asked = environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else cores


def git_revision(environ: Environ) -> str | None:
    """Revision of the course, with a + if files were changed; None where git cannot say at once."""
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
    """What the program was called with, so that the run can be repeated; None if that is too much
    for a line."""
    fits = len(words) <= 32 and sum(len(word) + 3 for word in words) <= 300
    return list(words) if fits else None


def machine(which: str, environ: Environ) -> dict[str, Any]:
    """The facts of one launch that do not depend on the training."""
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
