"""Whether the installed Horovod works: what it was built with, and an allreduce on two ranks."""

import os
import sys
from pathlib import Path

from cluster.environment.failure import SetUpError
from cluster.environment.stage import run

SECONDS = 180  # two ranks that import TensorFlow on two busy cores need about 20


def verify(logs: Path, *, gpu: bool = False) -> None:
    """Raise SetUpError unless Horovod has all its parts and two ranks agree."""
    scripts = Path(sys.executable).parent
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", OMP_NUM_THREADS="1")
    env["PATH"] = f"{scripts}{os.pathsep}{env['PATH']}"
    python = [sys.executable, str(Path(__file__).with_name("allreduce.py"))]

    log = logs / "horovod-check-build.log"
    report = run([scripts / "horovodrun", "--check-build"], log, env=env, timeout=SECONDS)
    for part in ("TensorFlow", "PyTorch", "MPI", "Gloo", *(["NCCL"] if gpu else [])):
        if f"[X] {part}" not in report:
            raise SetUpError(f"Horovod was built without {part}; the log is {log}")

    mpirun = ["mpirun", "-np", "2", "--oversubscribe", "--bind-to", "none"]
    if os.geteuid() == 0:
        mpirun.append("--allow-run-as-root")
    gloo = [str(scripts / "horovodrun"), "--gloo", "-np", "2", "-H", "localhost:2"]
    # Each framework and each transport once; the tests take all four pairs.
    for framework, launcher in (("tensorflow", mpirun), ("torch", gloo)):
        log = logs / f"horovod-allreduce-{framework}.log"
        output = run([*launcher, *python, framework], log, env=env, timeout=SECONDS)
        for rank in range(2):
            if f"rank {rank} of 2 received 0.5" not in output:
                raise SetUpError(
                    f"two {framework} ranks do not agree on an average; the log is {log}"
                )
