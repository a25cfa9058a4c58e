"""Find the student whom an identifier in a download or a table refers to.

Only exact identifiers count: the roster's ids, addresses, accounts and names. Case and the encoding
of accents make no difference, and `Lovelace, Ada` is `Ada Lovelace`. An identifier that two
students share is ignored.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from autograder.errors import SettingsError
from autograder.safe_text import shortened
from autograder.settings.roster import IDS, Person
from autograder.submissions.class_folder import name_of
from autograder.wording import counted

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
    ids = {kind: owners((p.student, [same(getattr(p, kind))]) for p in people.values())
           for kind in IDS}  # fmt: skip
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
    anything = owners((p.student, map(same, identifiers(p))) for p in people.values())
    names = {**anything, **owners((student, [same(student)]) for student in people)}
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


def identifiers(person: Person) -> list[str]:
    names = (person.full_name, f"{person.first_name} {person.last_name}".strip())
    return [*(getattr(person, kind) for kind in IDS), *names]


def owners(pairs: Iterable[tuple[str, Iterable[str]]]) -> Owners:
    students: dict[str, set[str]] = {}
    for student, texts in pairs:
        for text in filter(None, texts):
            students.setdefault(text.casefold(), set()).add(student)
    return students


def same(text: str) -> str:
    """Return the form in which identifiers are compared."""
    last, _, first = name_of(text).partition(",")  # as the roster has it
    return " ".join(f"{first} {last}".split()).casefold()
