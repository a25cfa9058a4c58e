import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.submissions import manifest

COLUMNS = ["student", "lesson", "points", "state", "evidence", "what to look at"]


def table(printed: str) -> list[list[str]]:
    """Return the rows of the printed grades, split where there are at least two spaces."""
    header, *lines = printed.split("\n\n")[0].splitlines() or [""]
    if not lines:
        return []
    assert re.split(r"  +", header) == COLUMNS
    return [[*re.split(r"  +", line), ""][: len(COLUMNS)] for line in lines]


def chooses_profile(words: list[str]) -> bool:
    """Return whether the command line of `grade` or its class.yaml names a profile."""
    named = (
        words[words.index("--class") + 1] if "--class" in words else Path(words[1], "class.yaml")
    )
    written = Path(named).read_text(errors="replace") if Path(named).is_file() else ""
    return "--profile" in words or "profile:" in written


def run(where: Path, *words: object):
    """Run a command that writes into a folder, which the result names beside the output."""
    result = CliRunner().invoke(main, [*map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    result.folder = where
    return result


@pytest.fixture
def grade_class(tmp_path):
    """Return a function that grades as the command does, in profile full unless it names another.

    It gives the exit code, the output and the folder of the reports.
    """

    def command(*arguments, out=None):
        where = out or tmp_path / "grades"
        words = ["grade", *map(str, arguments), "--out", str(where)]
        if not chooses_profile(words):
            words += ["--profile", "full"]
        result = run(where, *words)
        result.table = table(result.stdout)
        return result

    return command


@pytest.fixture
def grade(grade_class):
    return grade_class


COLLECTING = ("--lesson", "--groups", "--worksheet")
BOTH = ("--roster", "--rubrics")


@pytest.fixture
def collect(tmp_path):
    """Return a function that collects as the command does.

    It gives the exit code, the output and the class.
    """

    def command(*arguments, platform="folders", into=None):
        where = into or tmp_path / "collected"
        result = run(where, "collect", *arguments, "--from", platform, "--into", where)
        result.rows = manifest.read(where / manifest.NAME) or {}
        return result

    return command


@pytest.fixture
def collect_and_grade(tmp_path, collect, grade_class):
    """Return a function that collects places, then grades them.

    Each option goes to the command that has it.
    """

    def command(*arguments, platform="folders", again=False, out=None):
        words = [str(word) for word in arguments]
        to_collect, to_grade = [], []
        while words:
            word = words.pop(0)
            option = word.startswith("--")
            with_value = [word, words.pop(0)] if option else [word]
            to_collect += with_value if not option or word in (*COLLECTING, *BOTH) else []
            to_grade += with_value if option and word not in COLLECTING else []
        if not again:
            shutil.rmtree(tmp_path / "collected", ignore_errors=True)
        collected = collect(*to_collect, platform=platform)
        if collected.exit_code == 2:
            collected.table = []
            return collected
        result = grade_class(collected.folder, *to_grade, out=out)
        result.collected = collected
        return result

    return command
