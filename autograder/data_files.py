"""Load the grader's own data from YAML, and write its results: a kill leaves no half file.

Only this module writes the grader's files, so it also contains the error messages for paths that
cannot be written.
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


def write_all(folder: Path, texts: Mapping[str, str | None]) -> None:
    """Write all files of a result in order, or delete those without a text, once all are complete.

    Until then the old result stays, also if the disk is full or the grader is killed.
    """
    new = folder / NEW
    shutil.rmtree(new, ignore_errors=True)
    for name, text in texts.items():
        if text is not None:
            write(new / name, text)
    for name, text in texts.items():
        try:
            if text is None:
                (folder / name).unlink(missing_ok=True)
            else:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).replace(folder / name)
        except OSError as error:
            raise cannot_write(folder / name, error) from None
    shutil.rmtree(new, ignore_errors=True)


def write(path: Path, contents: str | bytes) -> None:
    """Write a file. A text becomes UTF-8, whatever a student's name or file contains."""
    data = contents.encode("utf-8", "backslashreplace") if isinstance(contents, str) else contents
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.write_bytes(data)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"{path} cannot be written: {error.strerror}. Choose another place, or make room there"
    )
