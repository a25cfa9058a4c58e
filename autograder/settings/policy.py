"""An instructor's rules for late submissions and changed grades.

They are read from class.yaml and from tables (docs/term.md), and checked against the
rubrics before anything is graded.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import click

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.claims import Claim, WhoIs, who_is
from autograder.settings.class_file import ClassFile, LatePolicy
from autograder.settings.rubric_schema import Rubric, RubricCheck
from autograder.strict_csv import read_csv
from autograder.submissions.lesson_names import lesson_among
from autograder.submissions.moments import YEARS
from autograder.wording import counted

Key = tuple[str, str]  # student, lesson
Located = tuple[str, Key, dict[str, str]]  # file:line; student and lesson; the row
LONGEST_EXTENSION = 366  # days; a larger number is a date or a typo


@dataclass(frozen=True, slots=True)
class Override:
    points: float | None  # None: excused
    reason: str
    check: str = ""  # empty: the whole lesson


@dataclass(frozen=True, slots=True)
class Policy:
    late: LatePolicy = field(default_factory=LatePolicy)
    extensions: dict[Key, tuple[float, str]] = field(default_factory=dict)  # days
    overrides: dict[Key, tuple[Override, ...]] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # student -> the first row about them


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LateRules:
    """The `late` field of class.yaml, with the file itself, so that messages can name lines."""

    late: LatePolicy = field(default_factory=LatePolicy)
    file: ClassFile = field(default_factory=ClassFile)


@dataclass(frozen=True, slots=True)
class PolicyFiles:
    """The files of an instructor's rules."""

    extensions: Path | None = None
    overrides: Path | None = None


def read_policy(
    rubrics: Mapping[str, Rubric], late: LateRules, files: PolicyFiles, who: WhoIs | None = None
) -> Policy:
    """Read the rules and check them against the rubrics, before anything is graded."""
    rules = checked(late, rubrics)
    who = who or who_is({}, {})
    named: dict[str, str] = {}

    def rows(path: Path | None, needed: str, optional: str) -> Iterator[Located]:
        for where, row in read_csv(path, ["student", "lesson", *needed.split()], optional.split()):
            student = student_meant(row["student"], who)
            named.setdefault(student, where)
            yield where, (student, lesson_meant(row["lesson"], rubrics, where)), row

    longer: dict[Key, tuple[float, str]] = {}
    for where, key, row in once(rows(files.extensions, "days", "reason")):
        days = _number(row["days"], where, "days")
        longer[key] = (days, row.get("reason", ""))
        if days > LONGEST_EXTENSION:
            raise SettingsError(
                f"{where}: {row['days']} days; an extension is at most {LONGEST_EXTENSION} days"
            )
        if key[1] not in rules.due:
            raise SettingsError(
                f"{where}: lesson {key[1]} has no due time in class.yaml, so an extension "
                "changes nothing: give it one, or remove this row"
            )
    changes: dict[Key, tuple[Override, ...]] = {}
    for where, key, row in once(rows(files.overrides, "points reason", "check")):
        change = _override(row, rubrics[key[1]], where)
        changes[key] = (*changes.get(key, ()), change)
    return Policy(rules, longer, changes, named)


def student_meant(name: str, who: WhoIs) -> str:
    """Return the only student whom a table names; a name that matches nobody is checked later."""
    found = who(Claim(name))
    return found[0] if len(found) == 1 else name


def once(rows: Iterable[Located]) -> Iterator[Located]:
    """Yield the rows. A second row about the same lesson or check is an error."""
    seen = set()
    for where, (student, lesson), row in rows:
        check = row.get("check", "")
        if (student, lesson, check) in seen:
            what = f"check {check} of lesson {lesson}" if check else f"lesson {lesson}"
            raise SettingsError(
                f"{where}: {what} of {shortened(student)} appears twice in this file; keep one row"
            )
        seen.add((student, lesson, check))
        yield where, (student, lesson), row


def lesson_meant(text: str, lessons: Collection[str], where: str) -> str:
    """Return the lesson's name. 02, 2 and 02_serial are the same lesson, as in `lessons check`."""
    name = lesson_among(text, lessons)
    if name is None:
        there = ", ".join(sorted(lessons))
        raise SettingsError(f"{where}: there is no rubric for lesson {text!r}. Lessons: {there}")
    return name


def _check_named(
    row: Mapping[str, str], lesson: str, checks: Iterable[RubricCheck], where: str
) -> str:
    """Return the check that a row refers to: empty if the rule applies to the whole lesson."""
    name, there = row.get("check", ""), [check.id for check in checks]
    if name and name not in there:
        raise SettingsError(
            f"{where}: lesson {lesson} has no check {shortened(name)!r}; leave `check` empty or "
            f"take one of {', '.join(there)}"
        )
    return name


def _override(row: Mapping[str, str], rubric: Rubric, where: str) -> Override:
    name = _check_named(row, rubric.lesson, rubric.checks, where)
    excused = row["points"].casefold() == "excused"
    points = None if excused else _number(row["points"], where, "points", " or the word excused")
    if excused and name:
        raise SettingsError(f"{where}: a lesson is excused, not a check; leave `check` empty")
    limit = next((check.points for check in rubric.checks if check.id == name), rubric.points)
    if points is not None and points > limit:
        most_of = f"{counted(limit, 'point')} for check {name}" if name else counted(limit, "point")
        raise SettingsError(f"{where}: lesson {rubric.lesson} has {most_of}, not {points:g}")
    return Override(points, row["reason"], name)


def checked(rules: LateRules, rubrics: Mapping[str, Rubric]) -> LatePolicy:
    """Return the late rules, with lessons named as in the rubrics."""
    late, file = rules.late, rules.file
    due: dict[str, str] = {}
    for name, time in late.due.items():
        where = file.where("late", "due", name)
        lesson = lesson_meant(name, rubrics, where)
        if lesson in due:
            raise SettingsError(f"{where}: lesson {lesson} is twice under due: keep one")
        read_moment(time, where)
        due[lesson] = time
    for name in ("penalty_a_day", "free_days"):
        if name in late.model_fields_set and not due:
            raise SettingsError(
                f"{file.where('late', name)}: {name} does nothing without `due`: nothing is late"
            )
    return late.model_copy(update={"due": due})


def _number(text: str, where: str, what: str, instead: str = "") -> float:
    """Return the number in a text that consists of digits and a decimal point.

    Python also accepts nan, 1e3 and 1_000, which people do not write.
    """
    if re.fullmatch(r"[0-9]+,[0-9]+", text):
        raise SettingsError(f"{where}: {text} {what}: write {text.replace(',', '.')}")
    if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)", text):
        raise SettingsError(f"{where}: {what} are a number{instead}, not {shortened(text)!r}")
    if float(text) < 0:
        raise SettingsError(f"{where}: {what} are at least 0, not {text}")
    return float(text)


def read_moment(text: str, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(
            f"{where}: {text!r} is not a time like 2026-03-01T23:59+01:00"
        ) from None
    if moment.tzinfo is None:
        raise SettingsError(f"{where}: {text!r} needs its offset, like 2026-03-01T23:59+01:00")
    if moment.year not in YEARS:
        raise SettingsError(f"{where}: {text!r} is in the year {moment.year}; which is meant?")
    return moment


def check_students(policy: Policy, handed_in: Collection[str], roster: Collection[str]) -> None:
    """Raise an error for a row about a student who is not in the class.

    If only one student is graded, the rest of the class is unknown, so this is only a warning.
    """
    known = {*roster, *handed_in}
    unknown = {name: where for name, where in policy.named.items() if name not in known}
    if not unknown:
        return
    spelt = {name.casefold(): name for name in known}
    # Comparing takes long in a large class. A likely typo is named first.
    near = {n: difflib.get_close_matches(n.casefold(), spelt, 1) for n in [*unknown][:10]}
    name = next(filter(near.get, near), next(iter(unknown)))
    hint = f" (did you mean {shortened(spelt[near[name][0]])}?)" if near[name] else ""
    others = f"; {counted(len(unknown) - 1, 'other name')} likewise" if len(unknown) > 1 else ""
    text = (
        f"{unknown[name]}: there is no student {shortened(name)} in this class{hint}{others}. "
        "Correct the name, or name the whole class with --roster."
    )
    if len(handed_in) > 1:
        raise SettingsError(text)
    click.echo(f"Warning: {text}", err=True)
