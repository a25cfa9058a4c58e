"""The files of an instructor's rules: due times, late days, extensions, overrides, times.

All are checked against the rubrics before anything is graded; docs/grading.md describes them.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from autograder.collect import lesson_of
from autograder.harmless import printable
from autograder.policy import Key, LatePolicy, Override, Policy
from autograder.rubric import Rubric
from autograder.strict_yaml import SettingsError, line_of, read_yaml, sentence
from autograder.verdict import counted


def read_policy(
    rubrics: Mapping[str, Rubric],
    late: Path | None = None,
    extensions: Path | None = None,
    overrides: Path | None = None,
    times: Path | None = None,
) -> Policy:
    """All of it checked against the rubrics: a slip is found before anything is graded."""
    named: dict[str, str] = {}

    def rows(path: Path | None, *columns: str) -> Iterator[tuple[str, Key, dict[str, str]]]:
        for where, row in read_csv(path, ("student", "lesson", *columns)):
            named.setdefault(row["student"], where)
            yield where, (row["student"], _lesson(row["lesson"], rubrics, where)), row

    longer: dict[Key, tuple[float, str]] = {}
    for where, key, row in rows(extensions, "days"):
        _once(longer, key, where)
        longer[key] = (_number(row["days"], where), row.get("reason", ""))
    changes: dict[Key, tuple[Override, ...]] = {}
    for where, key, row in rows(overrides, "points", "reason"):
        change = _override(row, rubrics[key[1]], where)
        earlier = changes.get(key, ())
        if change.check in [other.check for other in earlier]:
            raise _twice(key, where, change.check)
        changes[key] = (*earlier, change)
    handed_in: dict[Key, str] = {}
    for where, key, row in rows(times, "time"):
        _once(handed_in, key, where)
        _moment(row["time"], where)
        handed_in[key] = row["time"]
    return Policy(_read_late(late, rubrics), longer, changes, handed_in, named)


def _once(rows: Mapping[Key, object], key: Key, where: str) -> None:
    """Which of two rows would be meant, nobody can know."""
    if key in rows:
        raise _twice(key, where)


def _twice(key: Key, where: str, check: str = "") -> SettingsError:
    student, lesson = key
    what = f"check {check} of lesson {lesson}" if check else f"lesson {lesson}"
    return SettingsError(
        f"{where}: {what} of {printable(student)} stands twice in this file; keep one of the rows"
    )


def _lesson(text: str, rubrics: Mapping[str, Rubric], where: str) -> str:
    """02, 2 and 02_serial are one lesson, as they are for `lessons check`."""
    name = text if text in rubrics else lesson_of(text.zfill(2))
    if name is None or name not in rubrics:
        there = ", ".join(rubrics)
        raise SettingsError(f"{where}: there is no rubric for lesson {text!r}; there are {there}")
    return name


def _override(row: Mapping[str, str], rubric: Rubric, where: str) -> Override:
    name = row.get("check", "")
    excused = row["points"].casefold() == "excused"
    points = None if excused else _number(row["points"], where)
    if excused and name:
        raise SettingsError(f"{where}: a lesson is excused, not a check; leave `check` empty")
    most = {check.id: check.points for check in rubric.checks}
    if name and name not in most:
        raise SettingsError(
            f"{where}: lesson {rubric.lesson} has no check {name!r}; there are {', '.join(most)}"
        )
    limit = most[name] if name else rubric.points
    if points is not None and points > limit:
        most_of = f"{counted(limit, 'point')} for check {name}" if name else counted(limit, "point")
        raise SettingsError(f"{where}: lesson {rubric.lesson} has {most_of}, not {points:g}")
    return Override(points, row["reason"], name, where)


def _read_late(path: Path | None, rubrics: Mapping[str, Rubric]) -> LatePolicy:
    if path is None:
        return LatePolicy()
    data, lines = read_yaml(path)
    try:
        late = LatePolicy.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line = line_of(lines, tuple(first["loc"]))
        raise SettingsError(f"{path}:{line}: {sentence(first, LatePolicy)}") from None
    for lesson, due in late.due.items():
        where = f"{path}:{line_of(lines, ('due', lesson))}"
        if lesson not in rubrics:
            there = ", ".join(rubrics)
            raise SettingsError(f"{where}: lesson {lesson!r} has no rubric; there are {there}")
        _moment(due, where)
    if not re.fullmatch(r"\s*\d+(\.\d+)?\s*%\s*", late.penalty_a_day):
        line = line_of(lines, ("penalty_a_day",))
        found = late.penalty_a_day
        raise SettingsError(f"{path}:{line}: penalty_a_day is a percentage like 10%, not {found!r}")
    return late


def read_csv(path: Path | None, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows with their place; column names in any order, case and with more columns."""
    if path is None:
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    reader = csv.reader(text.splitlines())
    header = [name.strip().casefold() for name in next(reader, [])]
    for name in needed:
        if name not in header:
            raise SettingsError(f"{path}:1: there is no column `{name}`; found: {header}")
    for cells in reader:
        row = dict(zip(header, (c.strip() for c in cells), strict=False))
        if any(row.values()):
            missing = [name for name in needed if not row.get(name)]
            if missing:
                raise SettingsError(f"{path}:{reader.line_num}: `{missing[0]}` is empty")
            yield f"{path}:{reader.line_num}", row


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise SettingsError(f"{where}: {text!r} is no number of points or days")
    return value


def _moment(text: str, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(f"{where}: {text!r} is no time like 2026-03-01T23:59+01:00") from None
    if moment.tzinfo is None:
        raise SettingsError(f"{where}: {text!r} needs its offset, like 2026-03-01T23:59+01:00")
    return moment
