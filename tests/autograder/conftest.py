import pytest
from click.testing import CliRunner

from autograder.cli import main


@pytest.fixture
def grade(tmp_path):
    """Grade a folder as the command does; gives the exit code, the printed lines and the folder."""

    def command(*arguments, out=True):
        where = tmp_path / "grades"
        words = ["grade", *map(str, arguments), *(["--out", str(where)] if out else [])]
        result = CliRunner().invoke(main, words)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        result.folder = where
        return result

    return command
