"""Find the student that a folder or file name refers to, in any way of writing the name."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

NUMBERED = re.compile(r"\d{1,3}[ ._)-]+(?=\D)")  # `01 Ada`: the number is only for sorting


@dataclass(frozen=True, slots=True)
class Claim:
    """The facts about a student that the name of a folder or file contains."""

    spelt: str  # the name to use for a student who is not in the roster
    name: str = ""  # a full name, as the platform writes it
    ids: tuple[tuple[str, str], ...] = ()  # pairs of kind (a column of the roster) and id
    ends_with: str = ""  # a repository's name, which ends with the student's own
    lasting: bool = True  # whether its ids stay the same; Moodle's change with each assignment


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


def without_accents(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name)
    return "".join(c for c in apart if not unicodedata.combining(c))


def ascii_alone(name: str) -> str:
    return "".join(c for c in one_spelling(name) if c.isascii())


def unnumbered(name: str) -> str:
    """Return `Ada` for `01 Ada`, or an empty string if there is no number."""
    match = NUMBERED.match(name)
    return name[match.end() :] if match else ""
