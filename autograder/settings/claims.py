"""Whose a folder or file is, as its name says, and the ways in which names are written."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

NUMBERED = re.compile(r"\d{1,3}[ ._)-]+(?=\D)")  # `01 Ada`: the number only sorts


@dataclass(frozen=True, slots=True)
class Claim:
    """What a name says of the student to whom it belongs."""

    spelt: str  # the student's name where the roster does not know it
    name: str = ""  # a full name, as the platform writes it
    ids: tuple[tuple[str, str], ...] = ()  # kind, as the roster's columns are called, and id
    ends_with: str = ""  # a repository's name: the student's own comes last in it
    lasting: bool = True  # its ids last; Moodle numbers each assignment anew


@dataclass(frozen=True, slots=True)
class Known:
    """Whom a claim names: students of the roster, or nobody; and what contradicts."""

    students: tuple[str, ...] = ()
    doubt: str = ""
    may_be: tuple[str, ...] = ()  # students who share the name, where nothing says which is meant


WhoIs = Callable[[Claim], Known]


def nobody(claim: Claim) -> Known:
    """Without a roster everybody is who the name says."""
    return Known()


def one_spelling(name: str) -> str:
    """Return é as one letter; macOS writes it as e and an accent."""
    return unicodedata.normalize("NFC", name)


def plain(name: str) -> str:
    """Return what is left of a name in every way of writing it: `Lovelace, Ada` is not
    `Ada Lovelace`, but `ada_lovelace` is."""
    return " ".join(re.findall(r"[^\W_]+", one_spelling(name).casefold()))


def squeezed(name: str) -> str:
    """Return the name as Canvas writes it in the names of files."""
    return plain(name).replace(" ", "")


def without_accents(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    return "".join(c for c in apart if not unicodedata.combining(c))


def ascii_alone(name: str) -> str:
    return "".join(c for c in one_spelling(name) if c.isascii())


def unnumbered(name: str) -> str:
    """Return `Ada` of `01 Ada`; nothing if there is no number."""
    match = NUMBERED.match(name)
    return name[match.end() :] if match else ""
