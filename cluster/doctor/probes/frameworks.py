"""PyTorch, TensorFlow and Horovod: whether they load, what they were built with, what they see."""

import os
from importlib.util import find_spec
from pathlib import Path

from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.doctor.position import Position

INSTALL = "install the course's environment: make .venv"


def torch(_: Position) -> Diagnosis:
    if not find_spec("torch"):
        return look("not installed", INSTALL)
    import torch

    gpus = torch.cuda.device_count()
    built = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "for CPUs"
    facts = {"alike": torch.__version__, "gpus": gpus, "cuda": torch.version.cuda}
    words = f"{torch.__version__}, built {built}, sees {gpus} GPUs"
    if gpus:
        nccl = ".".join(map(str, torch.cuda.nccl.version()))
        return ok(f"{words}, NCCL {nccl}", **facts, nccl=nccl)
    return ok(words, **facts)


def tensorflow(_: Position) -> Diagnosis:
    if not find_spec("tensorflow"):
        return look("not installed", INSTALL)
    import tensorflow as tf

    gpus = len(tf.config.list_physical_devices("GPU"))
    built = "for CUDA" if tf.test.is_built_with_cuda() else "for CPUs"
    return ok(f"{tf.__version__}, built {built}, sees {gpus} GPUs", alike=tf.__version__, gpus=gpus)


def horovod(_: Position) -> Diagnosis:
    """What `horovodrun --check-build` says, without its quarter of a minute."""
    spec = find_spec("horovod")
    if not spec or not spec.submodule_search_locations:
        return look("not installed", INSTALL)
    folder = Path(spec.submodule_search_locations[0])
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
    missing = [name for name, there in parts.items() if not there and name != "NCCL"]
    facts = {"alike": f"{horovod.__version__} with {built}", "built": parts}
    if missing:
        return broken(f"{horovod.__version__} was built without {', '.join(missing)}", REBUILD)
    return ok(f"{horovod.__version__} with {built}", **facts)


REBUILD = "compile it again: delete its wheel from the cache as docs/install.md says, make .venv"
