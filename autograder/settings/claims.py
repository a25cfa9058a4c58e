"""Find the student that a folder or file name refers to, in any way of writing the name.

The roster has the students' ids, addresses, accounts and names.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.safe_text import shortened
from autograder.settings.roster import IDS, Person

NUMBERED = re.compile(r"\d{1,3}[ ._)-]+(?=\D)")  # `01 Ada`: the number is only for sorting
Owners = Mapping[str, set[str]]  # a form -> all students who have it


@dataclass(frozen=True, slots=True)
class Claim:
    """The facts about a student that the name of a folder or file contains."""

    spelt: str  # the name to use for a student who is not in the roster
    name: str = ""  # a full name, as the platform writes it
    ids: tuple[tuple[str, str], ...] = ()  # pairs of kind (a column of the roster) and id
    ends_with: str = ""  # a repository's name, which ends with the student's own

    @property
    def lasting(self) -> bool:
        """Return whether the ids stay the same. Moodle's change with each assignment."""
        return "moodle_id" not in dict(self.ids)


@dataclass(frozen=True, slots=True)
class Known:
    """The roster students to whom a claim refers, if any, and the reason for any doubt."""

    students: tuple[str, ...] = ()
    doubt: str = ""
    may_be: tuple[str, ...] = ()  # students who share the name, if it is ambiguous


WhoIs = Callable[[Claim], Known]


def nobody(claim: Claim) -> Known:
    """Return no student, because without a roster the claimed name itself is used."""
    return Known()


def who_is(people: Mapping[str, Person], groups: Mapping[str, tuple[str, ...]]) -> WhoIs:
    """Return a function that maps a claim to one student, or to all members of a group.

    An identifier that two students share is ignored.
    """
    ids = {
        kind: owners((one, (form_of(kind, getattr(p, kind)),)) for one, p in people.items())
        for kind in IDS
    }
    anything = owners((one, forms(p)) for one, p in people.items())
    names = owners((one, spellings(p)) for one, p in people.items())
    first = owners((one, (plain(p.full_name).split() or [""])[:1]) for one, p in people.items())
    called = {plain(name): members for name, members in groups.items()}

    def sharing(name: str) -> Collection[str]:
        return names.get(plain(name)) or names.get(squeezed(name)) or ()

    def find(claim: Claim) -> Known:
        whole = one_spelling(claim.spelt)
        if whole in people:
            return Known((whole,))
        found = (only(ids[kind].get(form_of(kind, text))) for kind, text in claim.ids if text)
        known, named = next(filter(None, found), ""), only(sharing(claim.name))
        alike = sharing(claim.name or whole)
        if not claim.lasting and len(alike) > 1 and known not in alike:
            known = ""  # in another assignment, this number belongs to somebody else
        if known and named and known != named:
            right = known if claim.lasting else named
            doubt = f"its number belongs to {known}, its name to {named}; counted as {right}'s"
            return Known((right,), shortened(doubt, 300))
        if student := known or named or only(anything.get(plain(whole))):
            return Known((student,))
        if members := called.get(plain(claim.name or whole)):
            return Known(members)
        for dash in re.finditer("-", claim.name):  # Moodle puts the group before the name
            if student := only(sharing(claim.name[dash.end() :])):
                return Known((student,))
            if members := called.get(plain(claim.name[: dash.start()])):
                return Known(members)
        if number := NUMBERED.match(whole):
            rest = plain(whole[number.end() :])
            if student := only(anything.get(rest)) or only(first.get(rest)):
                return Known((student,))
        students = of_repository(claim.ends_with, ids["github"], called)
        is_clear = students or len(alike) < 2
        return Known(students, may_be=() if is_clear else tuple(sorted(alike)))

    return find


def of_repository(
    name: str, github: Owners, groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the student or group whose name is the longest suffix of a repository's name."""
    parts = name.casefold().split("-")
    for start in range(len(parts)):
        end = "-".join(parts[start:])
        if student := only(github.get(end)):
            return (student,)
        if plain(end) in groups:
            return groups[plain(end)]
    return ()


def only(students: Collection[str] | None) -> str:
    """Return the student, or an empty string if there is none, or more than one."""
    return next(iter(students)) if students and len(students) == 1 else ""


def owners(pairs: Iterable[tuple[str, Iterable[str]]]) -> Owners:
    found: dict[str, set[str]] = {}
    for student, texts in pairs:
        for text in texts:
            if text:
                found.setdefault(text.casefold(), set()).add(student)
    return found


def form_of(kind: str, text: str) -> str:
    """Return an identifier in the normalised form that is used for comparison.

    Moodle's `Participant 4701`, in any language, becomes 4701.
    """
    digits = re.search(r"\d+\Z", text) if kind == "moodle_id" else None
    return digits[0] if digits else text.casefold()


def forms(person: Person) -> Iterator[str]:
    """Yield all forms in which people and platforms may write a student's name or ids."""
    yield plain(person.student)
    for kind in IDS:
        text = getattr(person, kind)
        yield from (text, plain(text), form_of(kind, text))
    yield plain(person.email.partition("@")[0])
    yield from spellings(person)


def spellings(person: Person) -> Iterator[str]:
    """Yield the spellings of a name in rosters and folders, and in Canvas without spaces.

    The family name may come first or last, and may have several words.
    """
    names = [person.full_name]
    if person.first_name and person.last_name:
        names.append(f"{person.first_name} {person.last_name}")
    for whole in names:
        words = whole.replace(",", " ").split()
        for at in range(len(words)):
            name = " ".join(words[at:] + words[:at])
            apart = unicodedata.normalize("NFKD", name)
            without_accents = "".join(c for c in apart if not unicodedata.combining(c))
            only_ascii = "".join(c for c in name if c.isascii())
            for way in (name, without_accents, only_ascii):
                yield plain(way)
                yield squeezed(way)


# --- ways of writing a name ---------------------------------------------------------------------


def one_spelling(name: str) -> str:
    """Return the name with é as one character. macOS writes it as e and an accent."""
    return unicodedata.normalize("NFC", name)


def plain(name: str) -> str:
    """Return the words of a name in lower case, without punctuation.

    `ada_lovelace` equals `Ada Lovelace`, but `Lovelace, Ada` does not.
    """
    return " ".join(re.findall(r"[^\W_]+", one_spelling(name).casefold()))


def squeezed(name: str) -> str:
    """Return the name as Canvas writes it in file names."""
    return plain(name).replace(" ", "")
