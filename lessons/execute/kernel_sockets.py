"""Run kernels over sockets in a private folder instead of TCP ports.

Jupyter finds five free ports and releases them, and the kernel opens them a second later. If ranks
or servers start in between, one of them may take one of these ports, and the kernel dies before it
runs its first cell. Nobody else can take a socket in a folder that only its owner can enter.
"""

import tempfile
from pathlib import Path

LONGEST = 60  # characters of TMPDIR: with its sockets' names, a path may have 107


def folder_for_sockets() -> tempfile.TemporaryDirectory[str]:
    """Create a folder for a `with` block, and remove it with its sockets at the end."""
    where = tempfile.gettempdir()
    short = where if len(where) <= LONGEST else "/tmp"
    return tempfile.TemporaryDirectory(prefix="kernel-", dir=short)


def kernel_manager_in(folder: Path) -> type:
    """Return the `kernel_manager_class` of papermill and nbclient for one kernel."""
    from jupyter_client import AsyncKernelManager

    class SocketsInFolder(AsyncKernelManager):
        def __init__(self, **options: object) -> None:
            place = folder / "kernel.json"
            super().__init__(transport="ipc", connection_file=str(place), **options)

    return SocketsInFolder
