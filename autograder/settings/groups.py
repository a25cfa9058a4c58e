"""Who works together: one hand-in counts for all members of a group, and is no copy of itself."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.strict_csv import read_csv
from autograder.submissions.claims import Claim, WhoIs
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.students import Student

EVERY = None  # of a group that works together in all lessons


@dataclass(frozen=True, slots=True)
class Groups:
    members: dict[tuple[str, str | None], tuple[str, ...]] = field(default_factory=dict)

    def by_name(self) -> dict[str, tuple[str, ...]]:
        """All who are in a group of this name, in whichever lesson."""
        found: dict[str, set[str]] = {}
        for (name, _), students in self.members.items():
            found.setdefault(name, set()).update(students)
        return {name: tuple(sorted(students)) for name, students in found.items()}

    def partners(self, student: str) -> list[tuple[str, str | None]]:
        """The others, each with the lesson alone that it holds for, if not for all."""
        return [
            (other, lesson)
            for (_, lesson), students in sorted(self.members.items(), key=repr)
            if student in students
            for other in students
            if other != student
        ]


def read_groups(path: Path | None, who: WhoIs, roster: Collection[str], lessons: Collection[str]):
    """group,student and, for groups that change, lesson."""
    found: dict[tuple[str, str | None], list[str]] = {}
    taken: dict[tuple[str, str | None], str] = {}
    for where, row in read_csv(path, ["group", "student"], ["lesson"]):
        known = who(Claim(row["student"])).students
        if roster and not known:
            raise SettingsError(f"{where}: nobody in the roster is {shortened(row['student'])!r}")
        student = known[0] if known else row["student"]
        lesson = lesson_named(row.get("lesson", ""), lessons, where)
        for other in {lesson, EVERY} if lesson else {EVERY, *lessons}:
            if (student, other) in taken and (lesson is EVERY or other in (lesson, EVERY)):
                raise SettingsError(
                    f"{where}: {shortened(student)} is in two groups, first in "
                    f"{taken[student, other]}; one of them is a slip"
                )
        taken[student, lesson] = where
        found.setdefault((row["group"], lesson), []).append(student)
    return Groups({key: tuple(sorted(students)) for key, students in found.items()})


def lesson_named(text: str, lessons: Collection[str], where: str) -> str | None:
    if not text:
        return EVERY
    name = text if text in lessons else lesson_of(text.zfill(2))
    if name is None or name not in lessons:
        there = ", ".join(sorted(lessons))
        raise SettingsError(f"{where}: there is no rubric for lesson {text!r}; there are {there}")
    return name


def with_partners(students: Sequence[Student], groups: Groups) -> list[Student]:
    """Each student with all partners, also those without a folder of their own, who come along if
    a partner has one."""
    there: Mapping[str, Student] = {student.name: student for student in students}
    named = {member for members in groups.members.values() for member in members}
    found = []
    for name in sorted({*there, *named}):
        partners = tuple(
            (there.get(other) or Student(other, ()), lesson)
            for other, lesson in groups.partners(name)
        )
        if name in there:
            found.append(replace(there[name], partners=partners))
        elif any(partner.name in there for partner, _ in partners):
            found.append(Student(name, (), partners=partners))
    return found
