"""Match the names in a submission with the ids, address, account and name in the roster."""

import re
from collections.abc import Iterable, Iterator, Mapping

from autograder.safe_text import shortened
from autograder.settings.claims import (
    Claim,
    Known,
    WhoIs,
    ascii_alone,
    one_spelling,
    plain,
    squeezed,
    unnumbered,
    without_accents,
)
from autograder.settings.roster import IDS, Person

NAMES = ".names"  # in the folder of grades: all identifiers of each student
Owners = Mapping[str, set[str]]  # a form -> all students who have it


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

    def by_id(claim: Claim) -> str:
        found = (only(ids[kind], form_of(kind, text)) for kind, text in claim.ids)
        return next(filter(None, found), "")

    def by_name(text: str) -> str:
        return only(names, plain(text)) or only(names, squeezed(text))

    def sharing(text: str) -> set[str]:
        return names.get(plain(text), set()) | names.get(squeezed(text), set()) if text else set()

    def find(claim: Claim) -> Known:
        whole = one_spelling(claim.spelt)
        if whole in people:
            return Known((whole,))
        known, named = by_id(claim), by_name(claim.name) if claim.name else ""
        alike = sharing(claim.name or whole)
        if not claim.lasting and len(alike) > 1 and known not in alike:
            known = ""  # in another assignment, this number belongs to somebody else
        if known and named and known != named:
            right = known if claim.lasting else named
            doubt = f"its number belongs to {known}, its name to {named}; counted as {right}'s"
            return Known((right,), shortened(doubt, 300))
        if student := known or named or only(anything, plain(whole)):
            return Known((student,))
        if plain(claim.name or whole) in called:
            return Known(called[plain(claim.name or whole)])
        for dash in re.finditer("-", claim.name):  # Moodle puts the group before the name
            if student := by_name(claim.name[dash.end() :]):
                return Known((student,))
            if members := called.get(plain(claim.name[: dash.start()])):
                return Known(members)
        rest = plain(unnumbered(whole))
        if rest and (student := only(anything, rest) or only(first, rest)):
            return Known((student,))
        found = of_repository(claim.ends_with, ids["github"], called)
        return Known(found, may_be=() if found or len(alike) < 2 else tuple(sorted(alike)))

    return find


def of_repository(
    name: str, github: Owners, groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the student or group whose name is the longest suffix of a repository's name."""
    parts = name.casefold().split("-")
    for start in range(len(parts)):
        end = "-".join(parts[start:])
        if student := only(github, end):
            return (student,)
        if plain(end) in groups:
            return groups[plain(end)]
    return ()


def names_of(people: Mapping[str, Person]) -> dict[str, list[str]]:
    """Return all identifiers of each student, to be stored with the grades."""
    return {
        student: sorted({form.casefold() for form in forms(person) if form})
        for student, person in people.items()
    }


def asked_for(names: Mapping[str, Iterable[str]], text: str) -> list[str]:
    """Return the students with this name or, if there are none, those whose name begins with it."""
    wanted = {text.casefold().strip(), plain(text)} - {""}
    whole = [student for student, known in names.items() if not wanted.isdisjoint(known)]
    first = plain(text) + " "
    return whole or [s for s, known in names.items() if any(k.startswith(first) for k in known)]


def only(known: Owners, form: str) -> str:
    """Return the only student with this identifier.

    Return an empty string if no student, or more than one, has it.
    """
    having = known.get(form, ()) if form else ()
    return next(iter(having)) if len(having) == 1 else ""


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
            for way in (name, without_accents(name), ascii_alone(name)):
                yield plain(way)
                yield squeezed(way)
