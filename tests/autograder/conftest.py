import pytest
from click.testing import CliRunner

from autograder.cli import main


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
        return result

    return command
