"""Read the roster: the names of all students and their ids on other systems. Find students by them.

An export of Canvas's gradebook also works as a roster:

Student,ID,SIS User ID,SIS Login ID,Section,02 Serial (5502)
    Points Possible,,,,,10
"Lovelace, Ada",101,,alove,HPC,8
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.safe_text import printable, shortened
from autograder.strict_csv import CsvRow, read_csv
from autograder.submissions.class_folder import name_of
from autograder.wording import counted


@dataclass(frozen=True, slots=True)
class Person:
    """A student. The fields are the columns of the roster."""

    student: str
    name: str = ""
    email: str = ""
    login: str = ""  # the account on the cluster
    canvas_id: str = ""
    sis_id: str = ""
    sis_login: str = ""
    moodle_id: str = ""
    github: str = ""
    section: str = ""
    first_name: str = ""
    last_name: str = ""

    @property
    def full_name(self) -> str:
        return self.name or f"{self.first_name} {self.last_name}".strip()

    @property
    def own_ids(self) -> set[str]:
        """Return what a student may type as their id: folder, login, or the e-mail's name."""
        return {self.student, self.login, self.sis_login, self.email} - {""}


# What other systems know a student by: columns of the roster, and the kinds of id in a claim.
IDS = ("email", "login", "canvas_id", "sis_id", "sis_login", "moodle_id", "github")
# If two rows shared one of these, one student would get the other's grade.
UNIQUE = ("student", *IDS)
# In the Student column of Canvas's gradebook: the line with the maximum points, and the preview of
# a course as a student.
MAXIMA, TEST_STUDENT = "Points Possible", "Student, Test"


def read_roster(path: Path | None) -> dict[str, Person]:
    """Return the students of a roster, or of Canvas's gradebook. Mistakes raise SettingsError."""
    people: dict[str, Person] = {}
    earlier: dict[tuple[str, str], str] = {}
    for where, row in rows_in(path):
        values = {field.name: row.get(field.name, "") for field in fields(Person)}
        if not values["student"]:
            raise SettingsError(f"{where}: the cell of the column `student` is empty or missing")
        for field in UNIQUE:
            value = values[field].casefold() if field == "email" else values[field]
            if value and (field, value) in earlier:
                raise SettingsError(
                    f"{where}: {field} {shortened(value)!r} appears twice in the roster, first in "
                    f"{earlier[field, value]}"
                )
            earlier[field, value] = where
        values["student"] = printable(values["student"])
        people[values["student"]] = Person(**values)
    if path is not None and not people:
        raise SettingsError(f"{path}: there is no student below the header")
    return people


def rows_in(path: Path | None) -> list[CsvRow]:
    """Return the students' rows and their places in the file."""
    rows = list(read_csv(path, ()))
    if is_gradebook(rows):
        others = ("", MAXIMA, TEST_STUDENT)
        return [(where, of_gradebook(row)) for where, row in rows if row["student"] not in others]
    return rows


def is_gradebook(rows: Sequence[CsvRow]) -> bool:
    return any(row.get("student") == MAXIMA for _, row in rows[:3])


def unused(path: Path | None) -> list[str]:
    """Return a line with the roster's columns that are not read: one of them may be misspelt."""
    rows = list(read_csv(path, ()))
    known = {"", *(field.name for field in fields(Person))}
    header = rows[0][1] if rows and not is_gradebook(rows) else {}
    unused = ", ".join(name for name in header if name not in known)
    return [f"{path}: not used: {shortened(unused)}"] if unused else []


def of_gradebook(row: dict[str, str]) -> dict[str, str]:
    """Return a row of Canvas's gradebook as one of a roster. Columns that were added stay.

    `student` is the login or, if there is none, the name and the number, as in `Ada Lovelace 101`.
    """
    last, _, first = row["student"].partition(",")
    name, login, number = f"{first} {last}".strip(), row.get("sis login id", ""), row.get("id", "")
    return row | {
        "student": login or f"{name} {number}",
        "name": name,
        "email": row.get("email") or (login if "@" in login else ""),
        "canvas_id": number,
        "sis_id": row.get("sis user id", ""),
        "sis_login": login,
    }


# --- whom an identifier means ---------------------------------------------------------------------

# Only exact identifiers count: the roster's ids, addresses, accounts and names. Case and the
# encoding of accents make no difference, and `Lovelace, Ada` is `Ada Lovelace`. An identifier that
# two students share is ignored.
Meant = Callable[[str, str], str]  # a name and where it is written -> the student
Owners = Mapping[str, set[str]]  # an identifier -> all students who have it


@dataclass(frozen=True, slots=True)
class Claim:
    """The identifiers of one student in a download."""

    name: str  # names the student if there is no roster
    ids: tuple[tuple[str, str], ...] = ()  # pairs of a roster's column and an id in it
    is_account: bool = False  # the owner of files: no name or team that is spelt alike counts

    def __str__(self) -> str:
        return ", ".join([self.name, *(f"{kind} {text}" for kind, text in self.ids if text)])


WhoIs = Callable[[Claim], tuple[str, ...]]  # one student, the members of a group, or nobody


def who_is(people: Mapping[str, Person], groups: Mapping[str, tuple[str, ...]]) -> WhoIs:
    """Return a function that finds the students of a claim.

    Without a roster, a student is called what the download calls them.
    """
    ids = {
        kind: owners((student, [getattr(person, kind)]) for student, person in people.items())
        for kind in IDS
    }
    named = students_named(people)
    teams = {same(name): members for name, members in groups.items()}

    def find(claim: Claim) -> tuple[str, ...]:
        names = () if claim.is_account else (("name", claim.name),)
        for kind, text in (*claim.ids, *names):
            students = named(text) if kind == "name" else ids[kind].get(same(text), ())
            if len(students) == 1:
                return tuple(students)
        nobody_known = () if people else (name_of(claim.name),)
        return nobody_known if claim.is_account else teams.get(same(claim.name), nobody_known)

    return find


def students_named(people: Mapping[str, Person]) -> Callable[[str], Collection[str]]:
    """Return a function that finds all students whom an id, address, account or name may mean."""
    anything = owners(
        (student, [person.full_name, *(getattr(person, kind) for kind in IDS)])
        for student, person in people.items()
    )
    names = {**anything, **owners((student, [student]) for student in people)}
    return lambda name: {name} & people.keys() or names.get(same(name), ())  # ada is not Ada


def meant_by(people: Mapping[str, Person]) -> Meant:
    """Return a function that finds the student in a table's row; it keeps the name of a stranger.

    A name that several students share is an error.
    """
    named = students_named(people)

    def meant(name: str, where: str) -> str:
        students = sorted(named(name))
        if len(students) > 1:
            raise SettingsError(
                f"{where}: {counted(len(students), 'student')} of the roster are called "
                f"{shortened(name)}: write {' or '.join(students)}"
            )
        return students[0] if students else name_of(name)

    return meant


def owners(pairs: Iterable[tuple[str, Iterable[str]]]) -> Owners:
    """Return all students of each identifier, from the identifiers of each student."""
    names = grouped(
        (name, student) for student, texts in pairs for name in map(same, texts) if name
    )
    return {name: {*students} for name, students in names.items()}


def same(text: str) -> str:
    """Return the form in which identifiers are compared."""
    last, _, first = name_of(text).partition(",")  # as the roster has it
    return " ".join(f"{first} {last}".split()).casefold()
