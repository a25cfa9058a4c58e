"""Find a rank's device, its threads and, for a GPU, an identity that no device mask hides."""

import os
import platform
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from cluster.launchers import number
from lessons.toolkit.record import run_record


def device(which: str, on: Any = None) -> tuple[str, str]:
    """Return the name of the framework's device in this process, without and with its identity.

    on: PyTorch's device of the parameters, if they are known; a process may have several. The
    identity of a GPU consists of eight digits of its UUID. If the driver does not list it, it is
    only the GPU's number, which can be the same for GPUs of other ranks.
    """
    index = gpu_index(which, on)
    name = f"CPU {processor()}" if index is None else run_record.device(which)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return name, name if index is None else f"{name} #{gpu_of(index, visible)}"


def threads(which: str) -> int:
    """Return the number of threads that one operation of this process may use."""
    if which == "torch" and which in sys.modules:
        return int(sys.modules[which].get_num_threads())
    name = "TF_NUM_INTRAOP_THREADS" if which == "tensorflow" else "OMP_NUM_THREADS"
    return number(os.environ, (name,)) or len(os.sched_getaffinity(0))


def gpu_index(which: str, on: Any) -> int | None:
    """Return the framework's number for the GPU that this process uses, or None."""
    framework: Any = sys.modules.get(which)
    if which == "torch" and framework.cuda.is_initialized() and getattr(on, "type", "") != "cpu":
        index = getattr(on, "index", None)
        return framework.cuda.current_device() if index is None else index
    gpus = framework.config.get_visible_devices("GPU") if which == "tensorflow" else ()
    return int(gpus[0].name.rpartition(":")[2]) if gpus else None


def gpu_of(index: int, visible: str) -> str:
    """Return the identity of the framework's GPU number `index` under CUDA_VISIBLE_DEVICES."""
    masks = [mask.strip() for mask in visible.split(",") if mask.strip()]
    chosen = masks[index] if index < len(masks) else str(index)
    if match := re.match(r"(?:GPU|MIG)-([0-9a-f]{8})", chosen):
        return match[1]
    uuids = listed_uuids()
    return uuids[int(chosen)] if chosen.isdigit() and int(chosen) < len(uuids) else chosen


@cache
def listed_uuids() -> list[str]:
    """Return the UUIDs of this process's GPUs, as the driver's own program lists them.

    For a GPU that is split into parts (MIG), it is the UUID of the first part, which CUDA uses.
    """
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    gpus = re.split(r"^(?=GPU )", done.stdout, flags=re.MULTILINE)
    uuids = (re.findall(r"\(UUID: (?:GPU|MIG)-([0-9a-f]{8})", gpu) for gpu in gpus)
    return [(each[1:] or each)[0] for each in uuids if each]


def processor() -> str:
    try:
        match = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return " ".join(match[1].split()) if match else platform.machine()
