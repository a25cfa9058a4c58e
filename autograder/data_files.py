"""Load the grader's own data from YAML, and write its results: a kill leaves no half file.

A file that already has the same bytes is not rewritten. Only this module writes the grader's files,
so it also contains the error messages for paths that cannot be written.
"""

import os
from pathlib import Path
from typing import Any

import yaml

from autograder.errors import SettingsError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path) -> Any:
    return yaml.load(path.read_bytes(), LOADER)


def write_if_new(path: Path, text: str) -> bool:
    return write_bytes_if_new(path, encoded(text))


def encoded(text: str) -> bytes:
    """Return the text as UTF-8, whatever a student's name or file contains."""
    return text.encode("utf-8", "backslashreplace")


def write_bytes_if_new(path: Path, data: bytes) -> bool:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.write_bytes(data)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None:  # not a system error: a student's time limit, for example
            raise
        raise cannot_write(path, error) from None
    return True


def cannot_write(path: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"{path} cannot be written: {error.strerror}. Choose another place, or make room there"
    )
