"""Read rubrics: YAML files with the checks of each lesson.

They contain only data. A typo is an error that names its line. docs/rubrics.md describes all
fields. `autograder rubric check` reads rubrics as grading does.
"""

import difflib
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from autograder.errors import SettingsError
from autograder.reading.formats import presets
from autograder.records import HEADER_FACTS
from autograder.settings.rubric_schema import Rubric, Scalar
from autograder.settings.strict_yaml import line_of, read_model, read_yaml, reason

Pieces = tuple[tuple[str, ...], ...]
RELEASED = TypeAdapter(dict[str, Annotated[Pieces, Field(min_length=1)]])
FOLDER = Path(__file__).parents[1] / "rubrics"


def files_in(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise SettingsError(f"{folder} has no rubric NN.yaml")
    return files


def load_rubric(path: Path) -> Rubric:
    """Return the rubric in a file. A process parses an unchanged file only once."""
    return _parse(path, path.read_bytes() if path.is_file() else b"")


# The content is an argument so that a change is noticed.
@lru_cache(maxsize=64)
def _parse(path: Path, content: bytes) -> Rubric:
    rubric, lines = read_model(path, Rubric)
    wrong = list(mistakes(rubric))
    if path.stem != rubric.lesson:  # elsewhere, lessons are found by file name
        wrong.append((("lesson",), f"lesson {rubric.lesson} belongs in {rubric.lesson}.yaml"))
    if wrong:
        raise SettingsError("\n".join(f"{path}:{line_of(lines, p)}: {text}" for p, text in wrong))
    return rubric


def load_expected(path: Path, rubric: Rubric) -> dict[str, Scalar]:
    """Return the expected answers, which are in a separate file; none if there is no such file."""
    if not path.exists():
        return {}
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SettingsError(f"{path}:1: expected `id: value` lines")
    for key, value in data.items():
        line = lines.get((key,), 1)
        if key not in rubric.answers:
            raise SettingsError(f"{path}:{line}: the rubric has no answer {key!r}")
        question = rubric.answers[key]
        wrong_kind = isinstance(value, str) != (question.kind == "word")
        if isinstance(value, dict | list | bool) or value is None or wrong_kind:
            raise SettingsError(f"{path}:{line}: {key!r} needs a {question.kind}, found {value!r}")
        if question.choices and value not in question.choices:
            raise SettingsError(f"{path}:{line}: {key!r} has to be one of {question.choices}")
    for key in unexpected(rubric, data):
        raise SettingsError(f"{path}:1: no value for {key!r}, which is a question of the rubric")
    return data


def unexpected(rubric: Rubric, expected: Collection[str]) -> list[str]:
    """Return the answers that need an expected value and have none."""
    needed = {k for k, q in rubric.answers.items() if q.kind != "prediction" and not q.metric}
    return sorted(needed - {*expected})


def load_released(path: Path) -> dict[str, Pieces]:
    """Return the text of a lesson's released programs, split at the gaps.

    `lessons build` writes these files: {"train.py": [["a line", …], …], …}. Next to the expected
    answers, files in the same format hold the solution's text for each gap. Without a file, nothing
    is compared.
    """
    if not path.exists():
        return {}
    try:
        return RELEASED.validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} is not what `lessons build` writes ({reason(error)}): take the file of the "
            "edition that you released"
        ) from None


# --- between the parts of a rubric ----------------------------------------------------------

Mistake = tuple[tuple, str]  # the place, and the mistake


def mistakes(rubric: Rubric) -> Iterator[Mistake]:
    """Yield inconsistencies between the parts of a rubric, such as unknown names and wrong sums."""

    def unknown_runs(place: tuple, *names: str | None) -> Iterator[Mistake]:
        for name in names:
            if name is not None and name not in rubric.runs:
                yield place, f"there is no run {name!r} under runs"

    formats = {reader.format for reader in presets.readers()} | {own.name for own in rubric.formats}
    for called, choice in rubric.runs.items():
        yield from unknown_runs(("runs", called, "program_of"), choice.program_of)
        other = rubric.runs.get(choice.program_of or "")
        if other is not None and other.program_of:
            yield ("runs", called, "program_of"), f"{choice.program_of!r} has a program_of itself"
        for unknown in sorted(set(choice.or_format) - formats):
            known = ", ".join(sorted(formats))
            yield ("runs", called), f"no format is called {unknown!r}; there are: {known}"
        for fact in choice.where:  # a record may have additional facts
            for meant in (
                ()
                if fact in HEADER_FACTS
                else difflib.get_close_matches(fact, HEADER_FACTS, 1, 0.7)
            ):
                text = f"no fact is called {fact!r}; is {meant!r} meant?"
                yield ("runs", called, "where", fact), text
    for index, check in enumerate(rubric.checks):
        place = ("checks", index)
        if check.id in [other.id for other in rubric.checks[:index]]:
            yield (*place, "id"), f"an earlier check has the same id {check.id!r}"
        for number, condition in enumerate(check.require):
            yield from unknown_runs((*place, "require", number), *condition.runs)
        for answer in check.answers:
            if answer not in rubric.answers:
                yield (*place, "answers"), f"there is no {answer!r} under answers"
    used = {answer for check in rubric.checks for answer in check.answers}
    for key, question in rubric.answers.items():
        if key not in used:
            yield ("answers", key), f"no check uses the answer {key!r}; add it to one"
        yield from unknown_runs(("answers", key), question.of, question.base)
    for profile in ("smoke", "full"):
        total = sum(c.points for c in rubric.checks if c.only in (None, profile))
        if abs(total - rubric.points) > 1e-9:
            text = f"the checks of profile {profile} sum to {total:g} points, not {rubric.points:g}"
            yield ("points",), text
