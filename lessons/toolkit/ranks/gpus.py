"""Decide whether this process trains on a GPU of its own, on the CPU, or not at all."""

import os
import re
import socket
import sys
from collections.abc import Mapping

from cluster.launchers import launched

# Variables of a job that has GPUs or asked for some, as NAME=value. Those of JOB and STEP list the
# GPUs, the first of which is number 0. PBS jobs and the laptop's get Slurm's names.
REQUESTS = re.compile(
    r"SLURM_(JOB|STEP)_GPUS=.+|SLURM_GPUS(_ON_NODE|_PER_\w+)?=(?!(.*:)?0$).+|PBS_GPUFILE=.+"
    r"|CUDA_VISIBLE_DEVICES=(\d|GPU-|MIG-).*"
)
WHY_NONE = {
    "tensorflow": "Run it in the environment that has TensorFlow's CUDA libraries (`cluster use "
    "--tensorflow-environment`), on a node whose driver fits them: `cluster doctor` in such a job "
    "shows both",
    "torch": "Run it with a CUDA build of PyTorch that fits the node's driver: `cluster doctor` in "
    "such a job shows both",
}

if os.environ.get("COURSE_DEVICE") == "cpu":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a framework looks later than this import


def enough_gpus(
    in_sight: int, local_rank: int | None = None, environ: Mapping[str, str] = os.environ
) -> None:
    """End the program with one sentence if it cannot use a GPU of its own, but should.

    If it returns, the program trains on GPU number `local_rank` if any is in sight, else on the
    CPU. No program trains on the CPU in a job with GPUs, unless COURSE_DEVICE=cpu allows it.

    in_sight: number of GPUs that the framework sees. local_rank: default: the launcher's.
    """
    here, started = socket.gethostname(), launched(environ)
    rank = started.rank if started else 0
    local_rank = started.local_rank if started and local_rank is None else local_rank or 0
    if in_sight == 0 and environ.get("COURSE_DEVICE") != "cpu" and (asked := request(environ)):
        name = "tensorflow" if "tensorflow" in sys.modules else "torch"
        version = getattr(sys.modules.get(name), "__version__", "")
        hidden = environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
        why = "CUDA_VISIBLE_DEVICES hides them" if hidden else WHY_NONE[name]
        sys.exit(
            f"This job has GPUs ({asked}), but {name} {version} sees none from rank {rank} on "
            f"{here}. {why}. To train on the CPU all the same: COURSE_DEVICE=cpu."
        )
    if in_sight and local_rank >= in_sight:
        seen = "1 GPU" if in_sight == 1 else f"{in_sight} GPUs"
        sys.exit(
            f"Rank {rank} is number {local_rank} on {here}, counted from 0, and sees {seen} there; "
            "each rank needs one of its own. Ask for as many GPUs per node as ranks, or for fewer "
            "ranks per node, or train on the CPU: COURSE_DEVICE=cpu. If the node has enough, every "
            "task has to see all of them: `cluster site check` says whether the site's file does "
            "that."
        )


def request(environ: Mapping[str, str]) -> str:
    """Return the first variable that says that the job has or wants GPUs, as NAME=value, or ""."""
    settings = (f"{name}={text}" for name, text in environ.items())
    return next((setting for setting in settings if REQUESTS.fullmatch(setting)), "")
