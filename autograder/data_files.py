"""Load the grader's own data from YAML, and write its results: a kill leaves no half file.

A file that already has the same bytes is not rewritten. Only this module writes the grader's files,
so it also contains the error messages for paths that cannot be written.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from autograder.errors import SettingsError

NEW = ".new"  # the folder of what is not in its place yet
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path: Path) -> Any:
    return yaml.load(path.read_bytes(), LOADER)


def write_if_new(path: Path, text: str) -> bool:
    return write_bytes_if_new(path, encoded(text))


def write_all(folder: Path, texts: Mapping[str, str | None]) -> None:
    """Write all files of a result, or delete those without a text, once each of them is complete.

    Until then the old result stays, also if the disk is full or the grader is killed.
    """
    new = folder / NEW
    shutil.rmtree(new, ignore_errors=True)
    for name, text in texts.items():
        data = None if text is None else encoded(text)
        if data is not None and not has_bytes(folder / name, data):
            write_bytes_if_new(new / name, data)
    for name, text in texts.items():
        try:
            if text is None:
                (folder / name).unlink(missing_ok=True)
            elif (new / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).replace(folder / name)
        except OSError as error:
            raise cannot_write(folder / name, error) from None
    shutil.rmtree(new, ignore_errors=True)


def has_bytes(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == data
    except OSError:
        return False  # it cannot be read, so it is replaced


def encoded(text: str) -> bytes:
    """Return the text as UTF-8, whatever a student's name or file contains."""
    return text.encode("utf-8", "backslashreplace")


def write_bytes_if_new(path: Path, data: bytes) -> bool:
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if has_bytes(path, data):
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
