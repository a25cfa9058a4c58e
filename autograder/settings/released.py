"""Read the released programs. Each program is stored as pieces of text with gaps between them.

The text that fills the gaps in the solution is in files of the same format, beside the expected
answers.

`lessons build` writes a file NN.json for each lesson: {"train.py": [["a line", …], …], …}.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from autograder.errors import SettingsError
from autograder.settings.strict_yaml import reason

Pieces = tuple[tuple[str, ...], ...]
FILE = TypeAdapter(dict[str, Annotated[Pieces, Field(min_length=1)]])


def load_released(path: Path) -> dict[str, Pieces]:
    """Return the pieces of each program. Without such a file, nothing is compared."""
    if not path.exists():
        return {}
    try:
        return FILE.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} is not what `lessons build` writes ({reason(error)}): take the file of the "
            "edition that you released"
        ) from None
