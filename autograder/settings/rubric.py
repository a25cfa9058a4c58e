"""Read rubrics: YAML files with the checks of each lesson.

They contain only data. A typo is an error that names its line. docs/rubrics.md describes all
fields. `autograder rubric check` reads rubrics as grading does.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from autograder.errors import SettingsError
from autograder.reading.formats import presets
from autograder.records import HEADER_FACTS
from autograder.settings.draws import about_items, with_items
from autograder.settings.rubric_schema import PROFILES, Question, Rubric, Scalar
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
    pools = sorted(path.parent.glob("pools/*.yaml"))
    return _parse(path, b"".join(each.read_bytes() for each in (path, *pools) if each.is_file()))


# The content is an argument so that a change is noticed.
@lru_cache(maxsize=64)
def _parse(path: Path, content: bytes) -> Rubric:
    written, lines = read_model(path, Rubric)
    rubric = with_items(written, path.parent)
    wrong = list(mistakes(rubric))
    if path.stem != rubric.lesson:  # elsewhere, lessons are found by file name
        wrong.append((("lesson",), f"lesson {rubric.lesson} belongs in {rubric.lesson}.yaml"))
    if wrong:
        raise SettingsError("\n".join(f"{path}:{line_of(lines, p)}: {text}" for p, text in wrong))
    return rubric


def load_expected(path: Path, rubric: Rubric) -> dict[str, Scalar]:
    """Return the expected answers, which are in separate files; none if there are no such files.

    Those about the items of a pool are in pools/NAME.yaml beside the others.
    """
    files = [path, *(path.parent / "pools" / f"{name}.yaml" for name in rubric.pools)]
    data: dict[str, Any] = {}
    there = [file for file in files if file.is_file()]
    for file in there:
        found, lines = read_yaml(file)
        if not isinstance(found, dict):
            raise SettingsError(f"{file}:1: expected `id: value` lines")
        if file != path:
            lines = {(f"{item}_{p}",): lines.get((item,), 1) for item in found for p in found[item]}
            found = {f"{item}_{p}": v for item, parts in found.items() for p, v in parts.items()}
        for key, value in found.items():
            where = f"{file}:{lines.get((key,), 1)}"
            if key not in rubric.answers:
                raise SettingsError(f"{where}: the rubric has no answer {key!r}")
            if wrong := wrong_value(rubric.answers[key], value):
                raise SettingsError(f"{where}: {key!r} {wrong}")
        data |= found
    for key in unexpected(rubric, data) if there else ():
        raise SettingsError(f"{path}:1: no value for {key!r}, which is a question of the rubric")
    return data


def wrong_value(question: Question, value: Any) -> str:
    """Return what is wrong with an expected answer. Of a list, any value counts."""
    values = value if isinstance(value, list) and value else [value]
    wrong_kind = any(isinstance(one, str) != (question.kind == "word") for one in values)
    if wrong_kind or any(isinstance(v, dict | list | bool) or v is None for v in values):
        return f"needs a {question.kind}, found {value!r}"
    if question.choices and not set(values) <= set(question.choices):
        return f"has to be one of {question.choices}"
    return ""


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
        if choice.program_of in {name for name, run in rubric.runs.items() if run.program_of}:
            yield ("runs", called, "program_of"), "that run has a program_of of its own"
        for fact in {*choice.where} - HEADER_FACTS if choice.or_format else ():
            yield ("runs", called, "where", fact), f"no output without a record states {fact!r}"
        for unknown in sorted(set(choice.or_format) - formats):
            known = ", ".join(sorted(formats))
            yield ("runs", called), f"no format is called {unknown!r}; there are: {known}"
    for index, check in enumerate(rubric.checks):
        place = ("checks", index)
        if check.id in [other.id for other in rubric.checks[:index]]:
            yield (*place, "id"), f"an earlier check has the same id {check.id!r}"
        if check.if_present and not rubric.own_runs(check):
            yield (*place, "if_present"), "no run belongs to this check alone, so it never counts"
        for number, condition in enumerate(check.require):
            yield from unknown_runs((*place, "require", number), *condition.runs)
        for answer in check.answers:
            if answer not in rubric.answers:
                yield (*place, "answers"), f"there is no {answer!r} under answers"
        if check.draw is not None:
            pool = rubric.pools.get(check.draw.pool)
            if pool is None or len(pool.items) < check.draw.count:
                text = f"no pool {check.draw.pool!r} has {check.draw.count} items"
                yield (*place, "draw"), text
    used = {answer for check in rubric.checks for answer in check.answers}
    for key, question in rubric.answers.items():
        if key not in used | about_items(rubric).keys():
            yield ("answers", key), f"no check uses the answer {key!r}; add it to one"
        yield from unknown_runs(("answers", key), question.of, question.base)
    for profile in PROFILES:
        total = rubric.worth(profile)
        if abs(total - rubric.points) > 1e-9:
            text = f"the checks of profile {profile} sum to {total:g} points, not {rubric.points:g}"
            yield ("points",), text
