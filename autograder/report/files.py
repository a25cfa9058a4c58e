"""Write reports so that a kill leaves the old or the new file, and equal bytes are left alone."""

import os
from pathlib import Path


def write_if_new(path: Path, text: str) -> bool:
    return write_bytes_if_new(path, text.encode("utf-8", "backslashreplace"))


def write_bytes_if_new(path: Path, data: bytes) -> bool:
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(path)
    return True
