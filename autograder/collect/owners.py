"""Find the owner of each item in a download."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.codes import FindingCode
from autograder.collect.download import Item
from autograder.notes import Note
from autograder.safe_text import printable, shortened
from autograder.settings.claims import WhoIs, one_spelling
from autograder.submissions.doubts import note_of

LONGEST_FOLDER = 100


@dataclass(slots=True)
class Owned:
    """Everything that was submitted under one name."""

    folder: str  # below the class
    students: tuple[str, ...]  # empty if unknown
    group: str = ""
    items: list[Item] = field(default_factory=list)
    doubts: list[Note] = field(default_factory=list)


def owned(items: Iterable[Item], who: WhoIs) -> list[Owned]:
    """Return the items by owner, sorted by folder."""
    found: dict[str, Owned] = {}
    for item in items:
        students, group, doubts = whose(item, who)
        name = folder_name(group or "+".join(students) or item.claims[0].name)
        one = found.setdefault(name, Owned(name, students, group))
        one.items.append(item)
        one.doubts += doubts
    return sorted(found.values(), key=lambda one: one.folder)


def whose(item: Item, who: WhoIs) -> tuple[tuple[str, ...], str, list[Note]]:
    """Return an item's students, their group, and a doubt about each unknown student."""
    students: set[str] = set()
    group, doubts = "", []
    for claim in item.claims:
        found = who(claim)
        students |= {printable(name) for name in found}
        if len(item.claims) == 1 and len(found) > 1:
            group = printable(one_spelling(claim.name))
        if not found:
            detail = f"{claim}: no student on the roster, or more than one"
            doubts.append(note_of(FindingCode.OWNER_UNKNOWN, "", shortened(detail)))
    return tuple(sorted(students)), group, doubts


def folder_name(name: str) -> str:
    """Return a name close to the student's that is a valid folder name on any system."""
    safe = printable(name, LONGEST_FOLDER)
    safe = "".join("_" if character in '/\\:*?"<>|' else character for character in safe)
    return safe.strip(" .") or "student"
