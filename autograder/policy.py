"""What happens to points after measuring: overrides, late days, extensions, excuses, drops.

All of it comes from small files, so that every grade can be replayed; docs/grading.md has them.
"""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autograder.collect import lesson_of
from autograder.rubric import Rubric
from autograder.strict_yaml import SettingsError, line_of, read_yaml
from autograder.verdict import Check, Grade, counted

Key = tuple[str, str]  # student, lesson
TIME_UNKNOWN = "time of handing in unknown, taken as on time"


class LatePolicy(BaseModel):
    """policy.yaml"""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    due: dict[str, str] = {}  # lesson -> ISO time with its offset
    free_days: int = Field(default=0, ge=0)  # late days a student may use up over all lessons
    penalty_a_day: str = "0%"  # of a lesson's points
    latest_days: int | None = Field(default=None, ge=0)  # later than this counts nothing
    drop_lowest: int = Field(default=0, ge=0)


@dataclass(frozen=True, slots=True)
class Override:
    points: float | None  # None: excused
    reason: str
    check: str = ""  # empty: the whole lesson
    where: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    late: LatePolicy = field(default_factory=LatePolicy)
    extensions: dict[Key, tuple[float, str]] = field(default_factory=dict)  # days
    overrides: dict[Key, tuple[Override, ...]] = field(default_factory=dict)
    times: dict[Key, str] = field(default_factory=dict)  # handed in
    named: dict[str, str] = field(default_factory=dict)  # student -> the first row on them

    def of_student(self, student: str) -> list:
        """All that concerns one student, for the cache's key."""
        tables = (self.extensions, self.overrides, self.times)
        mine = [sorted((k, repr(v)) for k, v in t.items() if k[0] == student) for t in tables]
        return [self.late.model_dump(), *mine]


# --- reading --------------------------------------------------------------------------------


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

    longer = {}
    for where, key, row in rows(extensions, "days"):
        longer[key] = (_number(row["days"], where), row.get("reason", ""))
    changes: dict[Key, tuple[Override, ...]] = {}
    for where, key, row in rows(overrides, "points", "reason"):
        change = _override(row, rubrics[key[1]], where)
        changes[key] = (*changes.get(key, ()), change)
    handed_in = {}
    for where, key, row in rows(times, "time"):
        _moment(row["time"], where)
        handed_in[key] = row["time"]
    rules = _read_late(late)
    for lesson in rules.due:
        if lesson not in rubrics:
            raise SettingsError(f"policy: due names lesson {lesson!r}, which has no rubric")
    return Policy(rules, longer, changes, handed_in, named)


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


def _read_late(path: Path | None) -> LatePolicy:
    if path is None:
        return LatePolicy()
    data, lines = read_yaml(path)
    try:
        late = LatePolicy.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line = line_of(lines, tuple(first["loc"]))
        name = ".".join(map(str, first["loc"]))
        raise SettingsError(f"{path}:{line}: {name}: {first['msg']}") from None
    for lesson, due in late.due.items():
        _moment(due, f"{path}:{line_of(lines, ('due', lesson))}")
    penalty(late, str(path))
    return late


def penalty(late: LatePolicy, where: str = "") -> float:
    text = late.penalty_a_day.strip()
    if not text.endswith("%"):
        raise SettingsError(f"{where}: penalty_a_day is a percentage like 10%")
    return _number(text[:-1], where) / 100


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


# --- applying -------------------------------------------------------------------------------


def handed_in_at(text: str | None) -> datetime | None:
    """A time as tools note it: ISO, or nbgrader's `2015-02-02 14:58:23 America/Los_Angeles`."""
    if not text:
        return None
    text = text.strip()
    day, rest = text[:10], text[11:]
    clock, _, zone = rest.partition(" ")
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}")
        if moment.tzinfo is None:
            if not zone:
                return None
            from zoneinfo import ZoneInfo

            moment = moment.replace(tzinfo=ZoneInfo(zone))
    except (ValueError, LookupError, OSError):
        return None
    return moment


def apply(grades: Iterable[Grade], policy: Policy, student: str) -> list[Grade]:
    """Changed checks, then late days, then changed totals and excuses; in the lessons' order."""
    left = policy.late.free_days
    adjusted = []
    for grade in grades:
        overrides = policy.overrides.get((student, grade.lesson), ())
        grade = replace(grade, raw_score=grade.score)
        for change in overrides:
            if change.check:
                grade = _override_check(grade, change)
        grade, left = _late(grade, policy, student, left)
        for change in overrides:
            if not change.check:
                grade = _override_total(grade, change)
        adjusted.append(grade)
    missing = set(policy.late.due) - {g.lesson for g in adjusted}  # these are the lowest of all
    dropped = _drop_lowest(adjusted, policy.late.drop_lowest - len(missing))
    return [replace(g, adjustments=_unknown_last(g.adjustments)) for g in dropped]


def _unknown_last(lines: tuple[str, ...]) -> tuple[str, ...]:
    """In the order applied, but last what changed nothing, so that it hides nothing else."""
    return tuple(sorted(lines, key=lambda line: line == TIME_UNKNOWN))


def _override_check(grade: Grade, change: Override) -> Grade:
    if change.check not in [c.id for c in grade.checks]:
        return replace(grade, adjustments=(*grade.adjustments, nothing_to_change(change)))
    checks = tuple(_changed(c, change) if c.id == change.check else c for c in grade.checks)
    given = counted(change.points or 0, "point")
    text = f"{change.check}: {given} by the instructor: {change.reason}"
    score = round(sum(c.score for c in checks), 2)
    return replace(
        grade, checks=checks, score=score, adjustments=(*grade.adjustments, text), status="graded"
    )


def nothing_to_change(change: Override) -> str:
    return f"{change.check}: not judged here, so nothing to change: {change.reason}"


def _changed(check: Check, change: Override) -> Check:
    return replace(check, score=change.points or 0.0)


def _override_total(grade: Grade, change: Override) -> Grade:
    if change.points is None:
        text = f"excused by the instructor: {change.reason}"
        return replace(
            grade, score=None, status="excused", adjustments=(*grade.adjustments, text), look=()
        )
    text = f"{counted(change.points, 'point')} by the instructor: {change.reason}"
    return replace(
        grade, score=change.points, status="graded", adjustments=(*grade.adjustments, text)
    )


def _late(grade: Grade, policy: Policy, student: str, left: int) -> tuple[Grade, int]:
    due_text = policy.late.due.get(grade.lesson)
    if due_text is None or grade.score is None:
        return grade, left
    due = _moment(due_text, "due")
    lines = []
    days, reason = policy.extensions.get((student, grade.lesson), (0.0, ""))
    if days:
        due += timedelta(days=days)
        lines.append(f"extension of {counted(days, 'day')}" + (f": {reason}" if reason else ""))
    text = policy.times.get((student, grade.lesson)) or grade.handed_in
    moment = handed_in_at(text)
    if moment is None:
        lines.append(TIME_UNKNOWN)
    score = grade.score
    late = 0 if moment is None else math.ceil((moment - due) / timedelta(days=1))
    if late > 0:
        free = min(left, late)
        left -= free
        charged = late - free
        of_them = f", {free} of them free" if free else ""
        lines.append(f"handed in {counted(late, 'day')} late{of_them}")
        limit = policy.late.latest_days
        share = 1.0 if limit is not None and late > limit else charged * penalty(policy.late)
        if share > 0:
            lost = round(min(score, share * grade.max_score), 2)
            score = round(score - lost, 2)
            less = f"{counted(lost, 'point')} less for {counted(charged, 'late day')}"
            lines.append(less)
    return replace(grade, score=score, adjustments=(*grade.adjustments, *lines)), left


def _drop_lowest(grades: list[Grade], count: int) -> list[Grade]:
    """The lowest shares of points are excused, the earlier lesson first where equal."""
    scored = [g for g in grades if g.score is not None and g.max_score > 0]
    if count <= 0 or len(scored) <= count:
        return grades
    lowest = sorted(scored, key=lambda g: ((g.score or 0) / g.max_score, g.lesson))[:count]
    dropped = {g.lesson for g in lowest}
    text = "dropped: one of the lowest results"
    return [
        replace(g, status="excused", score=None, adjustments=(*g.adjustments, text))
        if g.lesson in dropped
        else g
        for g in grades
    ]
