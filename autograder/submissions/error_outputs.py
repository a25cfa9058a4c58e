"""Find the error outputs that belong to outputs in the same folder.

Often only the error output shows why a job ended.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from autograder.submissions import output_names


def with_those_beside(paths: Iterable[Path]) -> list[Path]:
    """Return the files, each followed by its job's error output in the same folder.

    Error outputs that are empty or already listed are not added.
    """
    given = list(paths)
    known = {path.absolute() for path in given}
    folders: dict[Path, dict[str, list[Path]]] = {}
    found: list[Path] = []
    for path in given:
        found.append(path)
        if path.parent not in folders:
            folders[path.parent] = error_outputs(path.parent)
        for other in folders[path.parent].get(output_names.read(str(path)).shared, ()):
            if other.absolute() not in known:
                known.add(other.absolute())
                found.append(other)
    return found


def error_outputs(folder: Path) -> dict[str, list[Path]]:
    """Return the non-empty error outputs in a folder, grouped by the job's shared file name."""
    found: dict[str, list[Path]] = {}
    try:
        with os.scandir(folder) as entries:
            files = sorted(
                entry.name for entry in entries if entry.is_file() and entry.stat().st_size
            )
    except OSError:
        return {}
    for file in files:
        name = output_names.read(str(folder / file))
        if name.is_error:
            found.setdefault(name.shared, []).append(folder / file)
    return found
