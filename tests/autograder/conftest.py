import re

import pytest
from click.testing import CliRunner

from autograder.cli import main

COLUMNS = ["student", "lesson", "points", "state", "evidence", "what to look at"]


def table(printed: str) -> list[list[str]]:
    """The rows of the printed grades: what stands at least two spaces apart."""
    header, *lines = printed.split("\n\n")[0].splitlines() or [""]
    if not lines:
        return []
    assert re.split(r"  +", header) == COLUMNS
    return [[*re.split(r"  +", line), ""][: len(COLUMNS)] for line in lines]


@pytest.fixture
def grade(tmp_path):
    """Grade as the command does; gives the exit code, what was printed and the reports' folder."""

    def command(*arguments, out=None):
        where = out or tmp_path / "grades"
        words = ["grade", *map(str, arguments), "--out", str(where)]
        result = CliRunner().invoke(main, words)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        result.folder = where
        result.table = table(result.stdout)
        return result

    return command
