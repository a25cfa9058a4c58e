"""Read the table of groups, and apply it to the manifest's rows.

One submission counts for all members of a group.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.safe_text import shortened
from autograder.settings.policy import lesson_meant
from autograder.settings.roster import Meant
from autograder.strict_csv import read_csv
from autograder.submissions.class_folder import folder_name
from autograder.submissions.manifest import AND, Row
from autograder.submissions.moments import seconds_of

EVERY = ""  # the lesson of a group that works together in all lessons
Groups = Mapping[tuple[str, str], Collection[str]]  # group and lesson -> students


def read_groups(
    path: Path | None, meant: Meant, roster: Collection[str], lessons: Collection[str]
) -> Groups:
    """Read the columns group, student and, for groups that change, lesson."""
    taken: dict[tuple[str, str], tuple[str, str]] = {}  # by student and lesson
    for where, row in read_csv(path, ["group", "student"], ["lesson"]):
        student = meant(row["student"], where)
        if roster and student not in roster:
            raise SettingsError(f"{where}: {shortened(row['student'])!r} is not on the roster")
        lesson = lesson_meant(row["lesson"], lessons, where) if row.get("lesson") else EVERY
        for other in {lesson, EVERY} if lesson else {EVERY, *lessons}:
            if (student, other) in taken:
                raise SettingsError(
                    f"{where}: {shortened(student)} is in two groups, first in "
                    f"{taken[student, other][0]}: remove one of the rows"
                )
        taken[student, lesson] = where, row["group"]
    return grouped(((group, at), student) for (student, at), (_, group) in taken.items())


def by_name(groups: Groups) -> dict[str, tuple[str, ...]]:
    """Return each group's members, combined from all lessons."""
    members = grouped((name, who) for (name, _), students in groups.items() for who in students)
    return {name: tuple(sorted({*students})) for name, students in members.items()}


def with_groups(rows: Iterable[Row], groups: Groups, empty: Collection[str]) -> list[Row]:
    """Add the members who submitted nothing to the last submission of their group.

    `empty` are the folders that contain nothing to grade.
    """
    by_folder = {row.folder: row for row in map(alone, rows)}
    lessons = {row.lesson for row in by_folder.values() if row.lesson}
    for (group, fixed), members in groups.items():
        for lesson in [fixed] if fixed else lessons:
            of_lesson = [row for row in by_folder.values() if row.lesson == lesson]
            own = [row for row in of_lesson if not {*members}.isdisjoint(row.owners)]
            full = [row for row in own if row.folder not in empty]
            absent = {*members}.difference(*(row.owners for row in full))
            last = max(full, key=lambda row: (seconds_of(row.submitted) or 0.0, row.folder),
                       default=None)  # fmt: skip
            for row in own if last else ():
                students = (*row.owners, *sorted(absent)) if row is last else row.owners
                by_folder[row.folder] = replace(row, students=AND.join(students), group=group)
    return list(by_folder.values())


def alone(row: Row) -> Row:
    """Return the row as it was before the group's members were added."""
    home = row.folder.partition("/")[0]
    own = [student for student in row.owners if folder_name(student) == home]
    return replace(row, students=AND.join(own), group="") if row.group and own else row
