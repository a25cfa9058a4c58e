"""Find the student whom an identifier in a download or a table refers to.

Only exact identifiers count: the roster's ids, addresses, accounts and names. Case and the encoding
of accents make no difference, and `Lovelace, Ada` is `Ada Lovelace`. An identifier that two
students share is ignored.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from autograder.settings.roster import IDS, Person
from autograder.submissions.class_folder import name_of

Owners = Mapping[str, set[str]]  # an identifier -> all students who have it


@dataclass(frozen=True, slots=True)
class Claim:
    """The identifiers of one student in a download."""

    name: str  # names the student if there is no roster
    ids: tuple[tuple[str, str], ...] = ()  # pairs of a roster's column and an id in it

    def __str__(self) -> str:
        return ", ".join([self.name, *(f"{kind} {text}" for kind, text in self.ids if text)])


WhoIs = Callable[[Claim], tuple[str, ...]]  # one student, the members of a group, or nobody


def who_is(people: Mapping[str, Person], groups: Mapping[str, tuple[str, ...]]) -> WhoIs:
    """Return a function that finds the students of a claim.

    Without a roster, a student is called what the download calls them.
    """
    ids = {kind: owners((p.student, [same(getattr(p, kind))]) for p in people.values())
           for kind in IDS}  # fmt: skip
    anything = owners((p.student, map(same, identifiers(p))) for p in people.values())
    ids["name"] = {**anything, **owners((student, [same(student)]) for student in people)}
    teams = {same(name): members for name, members in groups.items()}

    def find(claim: Claim) -> tuple[str, ...]:
        for kind, text in (*claim.ids, ("name", claim.name)):
            exact = {text} & people.keys() if kind == "name" else ()  # ada is not Ada
            students = exact or ids[kind].get(same(text), ())
            if len(students) == 1:
                return tuple(students)
        nobody_known = () if people else (name_of(claim.name),)
        return teams.get(same(claim.name), nobody_known)

    return find


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
