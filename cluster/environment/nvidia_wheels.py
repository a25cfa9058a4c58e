"""Find CUDA and NCCL in the wheels that pip installs with a framework, for compiling against them.

A framework loads the NCCL of its own wheel, so Horovod is compiled against that one.
"""

import sysconfig
from pathlib import Path


def folder() -> Path:
    return Path(sysconfig.get_path("purelib")) / "nvidia"


def nccl_home() -> Path | None:
    """Give NCCL's library the name that linkers look for, and return NCCL's folder."""
    home = folder() / "nccl"
    if not (home / "include" / "nccl.h").is_file():
        return None
    unversioned(home / "lib", "libnccl.so")
    return home


def cuda_home() -> Path | None:
    """Return the folder of a complete CUDA installation, if there is one.

    The wheels for CUDA 12 lack the compiler.
    """
    for home in sorted(folder().glob("cu[0-9]*"), reverse=True):
        if (home / "bin" / "nvcc").is_file():
            link(home / "lib64", "lib")
            unversioned(home / "lib", "libcudart.so")
            return home
    return None


def unversioned(lib: Path, name: str) -> None:
    """Link a library under its name without a version, such as libnccl.so for libnccl.so.2."""
    for library in sorted(lib.glob(f"{name}.*"))[:1]:
        link(lib / name, library.name)


def link(place: Path, target: str) -> None:
    if not place.exists():
        place.symlink_to(target)
