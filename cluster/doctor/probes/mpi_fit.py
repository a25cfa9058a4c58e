"""Check whether the programs' MPI, the launcher and Slurm's plug-in match."""

import os
import re

from cluster.doctor.ask_program import answer
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.probes.frameworks import INSTALL

# The name of an MPI -> the Slurm plug-ins that can start it.
PLUG_INS = {
    "Open MPI v5": r"pmix",
    "Open MPI": r"pmix|pmi2",
    "MVAPICH": r"pmi2|pmix",
    "MPICH": r"pmi2|cray_shasta|pmix",
    "CRAY MPICH": r"cray_shasta|pmi2",
    "Intel(R) MPI": r"pmi2|pmix",
}
# Words of `mpirun --version` -> the MPI it belongs to.
OWNERS = {
    r"open mpi|open-?rte|prte": "Open MPI",
    r"intel": "Intel(R) MPI",
    r"mvapich": "MVAPICH",
    r"hydra|mpich": "MPICH",
}


def mpi() -> Diagnosis:
    library = library_version()
    if library is None:
        return look(
            "there is no mpi4py, so `launch` cannot count the ranks",
            INSTALL,
        )
    facts: dict = {"library": library}
    started_by = answer("mpirun", "--version")
    mine = owner(library)
    if started_by and (theirs := owner(started_by[1])) and mine and theirs != mine:
        return broken(
            f"programs use {library}, but mpirun is {theirs}'s: N ranks would be N single programs",
            "put the mpirun that belongs to this MPI first on PATH: module list; which -a mpirun",
            **facts,
        )
    listed = answer("srun", "--mpi=list")
    if listed is None:
        words = f"{library}; {'mpirun' if started_by else 'no mpirun and no srun'} on PATH"
        return ok(words, **facts) if started_by else look(words, "load the site's MPI", **facts)
    offered = re.findall(r"(?m)^\W*(\w+)\s*$", listed[1]) if listed[0] == 0 else []
    if not offered:
        words = f"{library}; srun lists no plug-ins"
        if started_by and "SLURM_JOB_ID" not in os.environ:  # Slurm is installed but does not run
            return ok(f"{words}; mpirun on PATH", **facts)
        return look(words, "does Slurm answer? srun --mpi=list", **facts)
    facts["plug_ins"] = offered
    wanted = next((PLUG_INS[name] for name in PLUG_INS if library.startswith(name)), ".")
    fitting = [name for name in offered if re.match(wanted, name)]
    words = f"{library}; srun offers {', '.join(offered)}"
    if not fitting:
        return broken(
            f"{words}: none of them starts this MPI",
            "start ranks with mpirun (SITE_LAUNCHER), or use the site's own MPI",
            **facts,
        )
    chosen = os.environ.get("SLURM_MPI_TYPE", "")
    if chosen and not re.match(wanted, chosen):
        return broken(
            f"{words}; this job uses {chosen}, which does not start this MPI",
            f"srun --mpi={fitting[0]} in launch_ranks of the site file",
            **facts,
        )
    return ok(f"{words}: {fitting[0]} fits", **facts)


def library_version() -> str | None:
    try:
        import mpi4py

        mpi4py.rc.initialize = False  # a rank can initialise MPI only once, so not here
        from mpi4py import MPI
    except ImportError:
        return None
    text = " ".join(MPI.Get_library_version().split("\0")[0].split())
    return re.split(r",|\bpackage\b|CH4|Device", text)[0].strip()


def owner(words: str) -> str | None:
    for pattern, name in OWNERS.items():
        if re.search(pattern, words, re.IGNORECASE):
            return name
    return None
