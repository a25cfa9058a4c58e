"""Check whether PyTorch, TensorFlow and Horovod load, how they were built, and what they see."""

import os
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok

INSTALL = "install the course's environment: make .venv, or on a cluster docs/install-cluster.md"
# The oldest driver for each major version of CUDA (NVIDIA's CUDA Compatibility).
DRIVERS = {"11": 450, "12": 525, "13": 580}
# TensorFlow has no machine code for an H100. The driver compiles its PTX, which is of CUDA 12.5.
ON_H100 = 555


def torch() -> Diagnosis:
    if not find_spec("torch"):
        return look("not installed", INSTALL)
    import torch

    gpus = torch.cuda.device_count()
    facts = {"version": torch.__version__, "gpus": gpus, "cuda": torch.version.cuda}
    words = f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}, sees {gpus} GPUs"
    if gpus:
        nccl = ".".join(map(str, torch.cuda.nccl.version()))
        return ok(f"{words}, NCCL {nccl}", **facts, nccl=nccl)
    return ok(words, **facts)


def tensorflow() -> Diagnosis:
    named = os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW")  # this probe runs in it, if it is there
    if named and not own_environment():
        advice = "cluster use SITE --tensorflow-environment FOLDER"
        return broken(f"{named} contains no bin/python", advice)
    if not find_spec("tensorflow"):
        return look("not installed", INSTALL)
    import tensorflow as tf

    gpus = len(tf.config.list_physical_devices("GPU"))
    cuda = tf.sysconfig.get_build_info().get("cuda_version")
    if cuda and not gpus and installed(CUDNN[1]) and not installed(CUDNN[0]):
        words = f"{tf.__version__}, on the CPU: this is PyTorch's environment, with its CUDA"
        return ok(words, version=tf.__version__)
    words = f"{tf.__version__}, CUDA {cuda or 'none'}, sees {gpus} GPUs"
    facts = {"version": tf.__version__, "gpus": gpus, "cuda": cuda}
    if own_environment() and not any(horovod_folder().glob("tensorflow/mpi_lib*.so")):
        return broken(f"{words}; in {sys.prefix} Horovod does not support it", REBUILD, **facts)
    return ok(f"{words}, in {sys.prefix}" if own_environment() else words, **facts)


def own_environment() -> bool:
    """Return whether this environment is only for TensorFlow's programs."""
    named = os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW", "")
    return named != "" and Path(named).resolve() == Path(sys.prefix).resolve()


def horovod_folder() -> Path:
    spec = find_spec("horovod")
    places = (spec and spec.submodule_search_locations) or ["/nowhere"]
    return Path(places[0])


CUDNN = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def driver_too_old(cuda: str | None, driver: str, at_least: int = 0) -> int | None:
    """Return the driver version that this CUDA version needs, if the installed one is older."""
    oldest = max(at_least, DRIVERS.get((cuda or "").partition(".")[0], 0))
    first = driver.partition(".")[0]
    return oldest if first.isdigit() and int(first) < oldest else None


def horovod() -> Diagnosis:
    """Report what `horovodrun --check-build` would, without starting both frameworks."""
    folder = horovod_folder()
    if not folder.is_dir():
        advice = "make horovod, or on a cluster docs/install-cluster.md"
        if any(map(installed, CUDNN)) or torch().facts.get("cuda"):
            advice = "python -m cluster.environment.horovod_wheel --gpu"
        return look("not installed; lessons 07 to 09 need it", advice)
    os.environ["HOROVOD_LOG_LEVEL"] = "fatal"
    parts = {"TensorFlow": any(folder.glob("tensorflow/mpi_lib*.so"))}
    try:
        import horovod
        import horovod.torch as hvd
    except Exception as error:
        return broken(f"does not load: {str(error).splitlines()[0]}", REBUILD)
    parts |= {"PyTorch": True, "MPI": bool(hvd.mpi_built()), "Gloo": bool(hvd.gloo_built())}
    parts["NCCL"] = bool(hvd.nccl_built())
    built = ", ".join(name for name, there in parts.items() if there)
    # TensorFlow programs may have their own environment, with its own Horovod.
    elsewhere = {"NCCL", "TensorFlow" if os.environ.get("COURSE_ENVIRONMENT_TENSORFLOW") else ""}
    missing = [name for name, there in parts.items() if not there and name not in elsewhere]
    facts = {"version": horovod.__version__, "built": parts}
    if missing:
        return broken(f"{horovod.__version__} was built without {', '.join(missing)}", REBUILD)
    return ok(f"{horovod.__version__} with {built}", **facts)


REBUILD = "to compile it again, delete `horovod` in ~/.cache/dl-course, then make clean horovod"
