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

from autograder.rubric import Rubric
from autograder.strict_yaml import SettingsError, line_of, read_yaml
from autograder.verdict import Check, Grade, counted


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
    extensions: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)  # days
    overrides: dict[tuple[str, str], tuple[Override, ...]] = field(default_factory=dict)
    times: dict[tuple[str, str], str] = field(default_factory=dict)  # handed in

    def of_student(self, student: str) -> list:
        """All that concerns one student, for the cache's key."""
        tables = (self.extensions, self.overrides, self.times)
        mine = [sorted((k, repr(v)) for k, v in t.items() if k[0] == student) for t in tables]
        return [self.late.model_dump(), *mine]


# --- reading --------------------------------------------------------------------------------


def read_policy(
    late: Path | None = None,
    extensions: Path | None = None,
    overrides: Path | None = None,
    times: Path | None = None,
) -> Policy:
    longer = {}
    for where, row in read_csv(extensions, ("student", "lesson", "days")):
        longer[row["student"], row["lesson"]] = (_number(row["days"], where), row.get("reason", ""))
    changes: dict[tuple[str, str], tuple[Override, ...]] = {}
    for where, row in read_csv(overrides, ("student", "lesson", "points", "reason")):
        excused = row["points"].casefold() == "excused"
        points = None if excused else _number(row["points"], where)
        if excused and row.get("check"):
            raise SettingsError(f"{where}: a lesson is excused, not a check; leave `check` empty")
        change = Override(points, row["reason"], row.get("check", ""), where)
        key = (row["student"], row["lesson"])
        changes[key] = (*changes.get(key, ()), change)
    handed_in = {}
    for where, row in read_csv(times, ("student", "lesson", "time")):
        _moment(row["time"], where)
        handed_in[row["student"], row["lesson"]] = row["time"]
    return Policy(_read_late(late), longer, changes, handed_in)


def check_names(policy: Policy, rubrics: Mapping[str, Rubric]) -> None:
    """A lesson or check that does not exist is a slip, found before anything is graded."""
    for (_, lesson), changes in policy.overrides.items():
        for change in changes:
            if lesson not in rubrics:
                raise SettingsError(f"{change.where}: there is no rubric for lesson {lesson!r}")
            ids = [check.id for check in rubrics[lesson].checks]
            if change.check and change.check not in ids:
                raise SettingsError(
                    f"{change.where}: lesson {lesson} has no check {change.check!r}; "
                    f"there are {', '.join(ids)}"
                )
    for lesson in policy.late.due:
        if lesson not in rubrics:
            raise SettingsError(f"policy: due names lesson {lesson!r}, which has no rubric")


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
    return _drop_lowest(adjusted, policy.late.drop_lowest - len(missing))


def _override_check(grade: Grade, change: Override) -> Grade:
    if change.check not in [c.id for c in grade.checks]:
        text = f"{change.check}: not judged here, so nothing to change: {change.reason}"
        return replace(grade, adjustments=(*grade.adjustments, text))
    checks = tuple(_changed(c, change) if c.id == change.check else c for c in grade.checks)
    given = counted(change.points or 0, "point")
    text = f"{change.check}: {given} by the instructor: {change.reason}"
    score = round(sum(c.score for c in checks), 2)
    return replace(
        grade, checks=checks, score=score, adjustments=(*grade.adjustments, text), status="graded"
    )


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
        lines.append("time of handing in unknown, taken as on time")
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
