"""Identify a rank's device: its name and, for a GPU, an identity that no device mask hides."""

import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lessons.toolkit.record import run_record

Environ = Mapping[str, str]


def device(which: str, on: Any = None) -> str:
    """Return the name of the device that the framework uses in this process.

    on: PyTorch's device of the parameters, if they are known; a process may have several.
    """
    name = run_record.device(which, on)
    return f"CPU {processor()}" if name == "CPU" else name


def device_and_number(which: str, environ: Environ, on: Any = None) -> str:
    """Return the name of this rank's device and, for a GPU, its identity."""
    name, number = device(which, on), device_number(which, environ, on)
    return f"{name} #{number}" if number else name


def device_number(which: str, environ: Environ, on: Any = None) -> str:
    """Return an identity of the GPU, or "" for a CPU.

    The identity consists of eight digits of the GPU's UUID. If the UUID is not available, it is
    only the GPU's number, which can be the same for GPUs of other ranks.
    """
    if which == "torch":
        torch = sys.modules["torch"]
        if not torch.cuda.is_initialized() or getattr(on, "type", "cuda") == "cpu":
            return ""
        index = getattr(on, "index", None)
        index = torch.cuda.current_device() if index is None else index
        if uuid := framework_uuid(torch, index):
            return uuid
    elif which == "tensorflow":
        gpus = sys.modules["tensorflow"].config.get_visible_devices("GPU")
        if not gpus:
            return ""
        index = int(gpus[0].name.rpartition(":")[2])
    else:
        return ""
    return gpu_of(index, environ.get("CUDA_VISIBLE_DEVICES", ""))


def framework_uuid(torch: object, index: int) -> str:
    """Return eight digits of the UUID that PyTorch reports, or "".

    Parts of a GPU (MIG) report the UUID of the whole GPU, and AMD's UUIDs all begin with the same
    digits. Neither kind of UUID identifies a GPU.
    """
    properties = torch.cuda.get_device_properties(index)  # type: ignore[attr-defined]
    uuid = getattr(properties, "uuid", None)
    whole = "MIG" not in str(getattr(properties, "name", ""))
    amd = getattr(torch.version, "hip", None)  # type: ignore[attr-defined]
    return str(uuid).removeprefix("GPU-")[:8] if uuid and whole and not amd else ""


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
    found: list[str] = []
    parted = False  # the GPU of the line before already has its first part
    for line in done.stdout.splitlines():
        match = re.search(r"^(\s*)(?:GPU|MIG) .*\(UUID: (?:GPU|MIG)-([0-9a-f]{8})", line)
        if match and not match[1]:
            found.append(match[2])
            parted = False
        elif match and found and not parted:
            found[-1] = match[2]
            parted = True
    return found


def processor() -> str:
    try:
        match = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return " ".join(match[1].split()) if match else platform.machine()
