"""Which device a rank uses: its name, and for a GPU the identity that no mask hides."""

import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

Environ = Mapping[str, str]


def device(which: str) -> str:
    """Name of the device that the framework uses in this process."""
    if which == "torch":
        cuda = sys.modules["torch"].cuda
        if cuda.is_available():
            return str(cuda.get_device_name(cuda.current_device()))
    if which == "tensorflow":
        config = sys.modules["tensorflow"].config
        if gpus := config.get_visible_devices("GPU"):
            details = config.experimental.get_device_details(gpus[0])
            return str(details.get("device_name", "GPU"))
    return f"CPU {processor()}"


def device_number(which: str, environ: Environ) -> str:
    """Which GPU: eight digits of its UUID, or where nobody tells it only its number, which another
    rank's GPU may have too; "" for a CPU."""
    if which == "torch":
        torch = sys.modules["torch"]
        if not torch.cuda.is_available():
            return ""
        index = torch.cuda.current_device()
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
    """As PyTorch tells it. Parts of a GPU (MIG) have that of the whole, and AMD's UUIDs begin
    alike: there it is no identity."""
    properties = torch.cuda.get_device_properties(index)  # type: ignore[attr-defined]
    uuid = getattr(properties, "uuid", None)
    whole = "MIG" not in str(getattr(properties, "name", ""))
    amd = getattr(torch.version, "hip", None)  # type: ignore[attr-defined]
    return str(uuid).removeprefix("GPU-")[:8] if uuid and whole and not amd else ""


def gpu_of(index: int, visible: str) -> str:
    """The GPU that a framework calls `index`, where CUDA_VISIBLE_DEVICES is `visible`."""
    masks = [mask.strip() for mask in visible.split(",") if mask.strip()]
    chosen = masks[index] if index < len(masks) else str(index)
    if match := re.match(r"(?:GPU|MIG)-([0-9a-f]{8})", chosen):
        return match[1]
    uuids = listed_uuids()
    return uuids[int(chosen)] if chosen.isdigit() and int(chosen) < len(uuids) else chosen


@cache
def listed_uuids() -> list[str]:
    """Of the GPUs that this process may use, as their driver's own program lists them; of one in
    parts (MIG) the first part's, which is the one that CUDA takes."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    found: list[str] = []
    parted = False  # the GPU of the line before has told its first part
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
