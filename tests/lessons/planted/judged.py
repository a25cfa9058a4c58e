"""Grade students with a planted mistake, from the kept or the new outputs."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.reading.files import read_files
from tests.lessons.planted import kept
from tests.lessons.planted.plants import LESSONS


def cases(number: str, *mistakes: str) -> list[Any]:
    """Return (lesson, mistake) for these mistakes, or for none ("") and all of the lesson's."""
    return [case(number, mistake) for mistake in mistakes or ("", *LESSONS[number].plants)]


def case(number: str, name: str) -> Any:
    return pytest.param(number, name, id=f"{number}-{name or 'none'}")


def runs_of(number: str, job: str) -> list[Any]:
    """Return the runs that the grader reads in the job's output."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".out") as file:
        file.write(kept.output(LESSONS[number], job)["out"])
        file.flush()
        return read_files([Path(file.name)])


@cache
def grade_of(number: str, mistake: str) -> dict[str, Any]:
    lesson = LESSONS[number]
    files = {}
    for name, job in lesson.files_of(mistake).items():
        for stream, text in kept.output(lesson, job).items():
            files[str(Path(name).with_suffix(f".{stream}"))] = text
    return graded(number, files)


def unexpected(number: str, mistake: str) -> dict[str, str]:
    """Return checks that the grader judges differently from the table, with its reasons."""
    lesson, lost = LESSONS[number], reasons(grade_of(number, mistake))
    loses = lesson.plants[mistake].loses if mistake else {}
    missing = {
        check: lost.get(check, "nothing lost")
        for check, words in loses.items()
        if words not in lost.get(check, "") or check not in lost
    }
    too_many = lost.keys() - loses.keys() - lesson.never - lesson.may
    return missing | {check: lost[check] for check in too_many}


def graded(number: str, files: dict[str, str]) -> dict[str, Any]:
    """Return the grade of a student who submits these files, in the smoke profile."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "class", "you", number)
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        words = ["grade", f"{place}/class", "--out", f"{place}/grades"]
        words += ["--profile", "smoke", "--jobs", "1"]
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code in (0, 1), done.output  # 1: something for a person to look at
        [record] = Path(place, "grades", "records").glob("*.json")
        [found] = json.loads(record.read_text("utf-8"))["grades"]
        return found


def reasons(grade: dict[str, Any]) -> dict[str, str]:
    """Return the reason that the student reads for each check that lost points; no answers."""
    return {
        check["id"]: f"{check['title']}: {check['expected']}; {check['actual']}; {check['advice']}"
        for check in grade["checks"]
        if check["score"] < check["points"] and check["id"] != "answers"
    }
