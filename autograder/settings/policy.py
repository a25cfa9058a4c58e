"""An instructor's rules for late submissions and changed grades.

They are read from class.yaml and from tables (docs/term.md), and checked against the rubrics.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import click

from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.safe_text import shortened
from autograder.settings.class_file import ClassFile, LatePolicy
from autograder.settings.roster import Meant
from autograder.settings.rubric_schema import Rubric
from autograder.strict_csv import read_csv
from autograder.submissions.kinds import lesson_among
from autograder.submissions.moments import read_moment
from autograder.verdict import NO_LESSONS

Key = tuple[str, str]  # student, lesson
Located = tuple[str, Key, dict[str, str]]  # file:line; student and lesson; the row
LONGEST_EXTENSION = 366  # days; a larger number is a date or a typo


@dataclass(frozen=True, slots=True)
class Override:
    points: float | None  # None: excused, or a reason to look at `check` is settled
    reason: str
    check: str = ""  # empty: the whole lesson


@dataclass(frozen=True, slots=True)
class Policy:
    late: LatePolicy = field(default_factory=LatePolicy)
    extensions: dict[Key, tuple[float, str]] = field(default_factory=dict)  # days
    overrides: dict[Key, tuple[Override, ...]] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # student -> the first row about them
    step: float | None = None  # the totals of lessons are rounded to its multiples

    def due(self, student: str, lesson: str) -> datetime | None:
        """Return when a lesson is due for a student, with the student's extension."""
        due, (days, _) = self.late.due.get(lesson), self.extensions.get((student, lesson), (0, ""))
        return datetime.fromisoformat(due) + timedelta(days=days) if due else None


# --- reading ------------------------------------------------------------------------------------


def read_policy(rubrics: Mapping[str, Rubric], file: ClassFile, meant: Meant) -> Policy:
    """Read the rules and check them against the rubrics, before anything is graded."""
    rules = checked(file, rubrics)
    named: dict[str, str] = {}

    def rows(path: Path | None, needed: str, optional: str) -> Iterator[Located]:
        """Yield the rows. A second row about the same lesson or check is an error."""
        seen = set()
        for where, row in read_csv(path, ["student", "lesson", *needed.split()], optional.split()):
            student, check = meant(row["student"], where), row.get("check", "")
            lesson = row["lesson"]
            if lesson not in NO_LESSONS or not settles(row):
                lesson = lesson_meant(lesson, rubrics, where)
            if (student, lesson, check) in seen:
                what = f"check {check} of lesson {lesson}" if check else f"lesson {lesson}"
                name = shortened(student, 60)
                raise SettingsError(f"{where}: {what} of {name} appears twice: keep one row")
            seen.add((student, lesson, check))
            named.setdefault(student, where)
            yield where, (student, lesson), row

    longer: dict[Key, tuple[float, str]] = {}
    for where, key, row in rows(file.extensions, "days", "reason"):
        days = _number(row["days"], LONGEST_EXTENSION, f"{where}: days")
        longer[key] = (days, row.get("reason", ""))
    changes = grouped(
        (key, settles(row) or _override(row, rubrics[key[1]], where))
        for where, key, row in rows(file.overrides, "points", "check reason")
    )
    settled = {key: tuple(some) for key, some in changes.items()}
    return Policy(rules, longer, settled, named, file.round)


def lesson_meant(text: str, lessons: Collection[str], where: str) -> str:
    """Return the lesson's name. 02, 2 and 02_serial are the same lesson, as in `lessons check`."""
    name = lesson_among(text, lessons)
    if name is None:
        known = ", ".join(sorted(lessons))
        raise SettingsError(f"{where}: there is no rubric for lesson {text!r}. Lessons: {known}")
    return name


def settles(row: Mapping[str, str]) -> Override | None:
    """Return the row's change if it settles reasons to look."""
    if row.get("points", "").casefold() == "seen" and row.get("check"):
        return Override(None, row.get("reason", ""), row["check"])
    return None


def _override(row: Mapping[str, str], rubric: Rubric, where: str) -> Override:
    """Return a row's change. An empty `check` means the whole lesson."""
    name, points_of = row.get("check", ""), {check.id: check.points for check in rubric.checks}
    if name and name not in points_of:
        hint = f"leave `check` empty or take one of {', '.join(points_of)}"
        if row.get("reason", "").casefold() == "seen":
            hint = "a cell with a comma needs quotes"
        raise SettingsError(
            f"{where}: lesson {rubric.lesson} has no check {shortened(name)!r}; {hint}"
        )
    if not row.get("reason"):
        raise SettingsError(f"{where}: `reason` is empty")
    if row["points"].casefold() == "excused":
        if name:
            raise SettingsError(f"{where}: a lesson is excused, not a check; leave `check` empty")
        return Override(None, row["reason"])
    what = f"{where}: points for {f'check {name} of ' if name else ''}lesson {rubric.lesson}"
    points = _number(row["points"], points_of.get(name, rubric.points), what, ", or excused")
    return Override(points, row["reason"], name)


def checked(file: ClassFile, rubrics: Mapping[str, Rubric]) -> LatePolicy:
    """Return the late rules, with lessons named as in the rubrics."""
    late, due = file.late, dict[str, str]()
    for name, time in late.due.items():
        where = file.where("late", "due", name)
        lesson = lesson_meant(name, rubrics, where)
        if lesson in due:
            raise SettingsError(f"{where}: lesson {lesson} is twice under due: keep one")
        due[lesson] = read_moment(time, where).isoformat()
    return late.model_copy(update={"due": due})


def _number(text: str, most: float, what: str, instead: str = "") -> float:
    """Return a number from 0 to `most`."""
    with suppress(ValueError):
        if 0 <= float(text) <= most:
            return float(text)
    raise SettingsError(
        f"{what} are a number from 0 to {most:g}, like 2.5{instead}, not {shortened(text)!r}"
    )


def check_students(policy: Policy, handed_in: Collection[str], roster: Collection[str]) -> None:
    """Raise an error for a row about a student who is not in the class.

    If only one student is graded, the rest of the class is unknown, so this is only a warning.
    """
    known = {*roster, *handed_in}
    name = next((name for name in policy.named if name not in known), None)
    if name is None:
        return
    where = policy.named[name]
    text = (
        f"{where}: there is no student {shortened(name)} in this class. "
        "Correct the name, or name the whole class with --roster."
    )
    if len(handed_in) > 1:
        raise SettingsError(text)
    click.echo(f"Warning: {text}", err=True)
