"""Whose a folder or file of a download is, as its name says, and who that is in the roster."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

NUMBERED = re.compile(r"\d{1,3}[ ._)-]+(?=\D)")  # `01 Ada`: the number only sorts


@dataclass(frozen=True, slots=True)
class Claim:
    """What a name says of the student whom it belongs to."""

    spelt: str  # what the student is called whom nobody knows
    name: str = ""  # a full name, as the platform writes it
    ids: tuple[tuple[str, str], ...] = ()  # kind, as the roster's columns are called, and id
    ends_with: str = ""  # a repository's name: the student's own comes last in it
    lasting: bool = True  # its ids are the student's for good; Moodle numbers each assignment anew


@dataclass(frozen=True, slots=True)
class Handed:
    """One folder, archive or file in a download."""

    path: Path
    claims: tuple[Claim, ...]  # of all who handed it in together
    called: str = ""  # by the student, where the platform put something before it
    lesson: str | None = None  # that the place is named after; the outputs know better
    time: str | None = None  # of handing in
    late: bool = False  # the platform says so
    label: str = ""  # tells it from others of the same student
    unpacked: Path | None = None  # the folder that it lies below, of a class in one archive
    lies_in: str = ""  # as Said has it


@dataclass(frozen=True, slots=True)
class Said:
    """What is known of one of a student's places beside what lies in it."""

    called: str = ""
    lesson: str | None = None
    time: str | None = None
    late: bool = False
    label: str = ""
    doubt: str = ""  # what contradicts in whose it is
    together: tuple[str, ...] = field(default=())  # students who handed it in as one
    lies_in: str = ""  # the folder or the class's archive, called as it was given


@dataclass(frozen=True, slots=True)
class Known:
    """Who a claim is of: students that the roster names, or nobody; and what contradicts."""

    students: tuple[str, ...] = ()
    doubt: str = ""
    may_be: tuple[str, ...] = ()  # students who share the name, where nothing says which is meant


WhoIs = Callable[[Claim], Known]


def nobody(claim: Claim) -> Known:
    """Without a roster everybody is who the name says."""
    return Known()


def one_spelling(name: str) -> str:
    """macOS writes é as e and an accent; rosters and other systems write one letter."""
    return unicodedata.normalize("NFC", name)


def plain(name: str) -> str:
    """What is left of a name in every way of writing it: `Lovelace, Ada` is not `Ada Lovelace`, but
    `ada_lovelace` is."""
    return " ".join(re.findall(r"[^\W_]+", one_spelling(name).casefold()))


def squeezed(name: str) -> str:
    """As Canvas writes it in the names of files."""
    return plain(name).replace(" ", "")


def without_accents(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    return "".join(c for c in apart if not unicodedata.combining(c))


def ascii_alone(name: str) -> str:
    return "".join(c for c in one_spelling(name) if c.isascii())


def unnumbered(name: str) -> str:
    """`01 Ada` is Ada; empty if there is no number."""
    match = NUMBERED.match(name)
    return name[match.end() :] if match else ""
