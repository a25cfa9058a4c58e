"""Read the released programs. Each program is stored as pieces of text with gaps between them.

The text that fills the gaps in the solution is in files of the same format, beside the expected
answers.

`lessons build` writes a file NN.json for each lesson: {"train.py": [["a line", …], …], …}.
"""

import json
from pathlib import Path

from autograder.errors import SettingsError

Pieces = tuple[tuple[str, ...], ...]


def load_released(path: Path) -> dict[str, Pieces]:
    """Return the pieces of each program. Without such a file, nothing is compared."""
    if not path.exists():
        return {}
    try:
        programs = json.loads(path.read_bytes())
        found = {
            name: tuple(tuple(map(as_line, piece)) for piece in pieces)
            for name, pieces in programs.items()
        }
        if not all(found.values()):
            raise ValueError("a program without text")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{path} is not what `lessons build` writes ({error}): take the file of the edition "
            "that you released"
        ) from None
    return found


def as_line(line: object) -> str:
    if not isinstance(line, str):
        raise TypeError("a line that is no text")
    return line
