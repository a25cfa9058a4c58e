"""Verify the installed Horovod: what it was built with, and an allreduce on two ranks."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from cluster.environment.failure import SetUpError
from cluster.environment.stage import run

SECONDS = 180  # two ranks that import TensorFlow on two busy cores need about 20 s
BOTH = ("tensorflow", "torch")
AGREED = "rank {} of 2 received 0.5"


def verify(logs: Path, *, gpu: bool = False, frameworks: Sequence[str] = BOTH) -> None:
    """Raise SetUpError unless Horovod has all its transports and works on two ranks."""
    scripts = Path(sys.executable).parent
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", OMP_NUM_THREADS="1")
    env["PATH"] = f"{scripts}{os.pathsep}{env['PATH']}"
    python = [sys.executable, str(Path(__file__).with_name("allreduce.py"))]

    mpirun = ["mpirun", "-np", "2", "--oversubscribe", "--bind-to", "none"]
    if os.geteuid() == 0:
        mpirun.append("--allow-run-as-root")
    gloo = [str(scripts / "horovodrun"), "--gloo", "-np", "2", "-H", "localhost:2"]
    # Each framework and each transport once; the tests cover all four pairs. GPUs are hidden: both
    # ranks would take the first one, and NCCL refuses two ranks on one GPU.
    env["CUDA_VISIBLE_DEVICES"] = ""
    frameworks = sorted(frameworks)
    for framework, launcher in ((frameworks[0], mpirun), (frameworks[-1], gloo)):
        how = "gloo" if launcher is gloo else "mpi"
        log = logs / f"horovod-allreduce-{framework}-{how}.log"
        output = run([*launcher, *python, framework], log, env=env, timeout=SECONDS)
        if any(AGREED.format(rank) not in output for rank in range(2)):
            raise SetUpError(f"two {framework} ranks disagree on an average; the log is {log}")
        for part in ("MPI", "Gloo", *(["NCCL"] if gpu else [])):
            if not re.search(rf"built with .*\b{part}\b", output):
                raise SetUpError(f"Horovod was built without {part}; the log is {log}")
