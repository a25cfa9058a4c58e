"""Kernels that talk over sockets in a folder of their own instead of over TCP ports.

Jupyter looks for five free ports and gives them back, and the kernel takes them a second later.
Where ranks and servers come and go, another may have taken one meanwhile, and the kernel dies
before its first cell. Nobody else takes a socket in a folder that only its owner can enter.
"""

import tempfile
from pathlib import Path

LONGEST = 60  # characters of a folder: with its sockets' names, a path may have 107


def folder_for_sockets() -> tempfile.TemporaryDirectory[str]:
    """As a context: the folder, gone with its sockets at the end. Short, wherever TMPDIR is."""
    where = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(
        prefix="kernel-", dir=where if len(where) <= LONGEST else "/tmp"
    )


def kernel_manager_in(folder: Path) -> type:
    """What papermill and nbclient take as `kernel_manager_class`, for one kernel."""
    from jupyter_client import AsyncKernelManager

    class SocketsInFolder(AsyncKernelManager):
        def __init__(self, **options: object) -> None:
            place = folder / "kernel.json"
            super().__init__(transport="ipc", connection_file=str(place), **options)

    return SocketsInFolder
