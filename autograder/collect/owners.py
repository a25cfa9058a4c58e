"""Find the owner of each item in a download.

An owner is a student on the roster or, otherwise, the name that the platform gives.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.codes import FindingCode
from autograder.collect.download import Item
from autograder.safe_text import printable
from autograder.settings.claims import WhoIs, one_spelling
from autograder.submissions.doubts import Doubt

LONGEST_FOLDER = 100


@dataclass(slots=True)
class Owned:
    """Everything that was submitted under one name."""

    folder: str  # below the class
    students: tuple[str, ...]  # empty if the student is uncertain
    group: str = ""
    items: list[Item] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def owned(items: Iterable[Item], who: WhoIs) -> list[Owned]:
    """Return the items by owner, sorted by folder."""
    found: dict[str, Owned] = {}
    for item in items:
        students, group, doubts = whose(item, who)
        name = folder_name(group or "+".join(students) or item.claims[0].spelt)
        if name in found and found[name].students != students:
            name = folder_name(f"{name} {'+'.join(students)}")
        one = found.setdefault(name, Owned(name, students, group))
        one.items.append(item)
        one.doubts += doubts
    for one in found.values():
        # Hand-written names that differ, but were matched with one student.
        spelt = {
            one_spelling(item.claims[0].spelt)
            for item in one.items
            if not (item.called or item.label or item.claims[0].ids)
        }
        if len(spelt) > 1:
            detail = f"{' and '.join(sorted(spelt))} were both matched with {one.folder}"
            one.doubts.append(Doubt(FindingCode.OWNER_UNCERTAIN, "", detail))
    return sorted(found.values(), key=lambda one: one.folder)


def whose(item: Item, who: WhoIs) -> tuple[tuple[str, ...], str, list[Doubt]]:
    """Return an item's students, their group, and the doubts about them."""
    students: set[str] = set()
    group, reasons = "", []
    for claim in item.claims:
        known = who(claim)
        reasons.append(known.doubt)
        if known.may_be:
            advice = "" if claim.lasting else "; --worksheet tells them apart"
            reasons.append(f"it may be from {' or '.join(known.may_be)}{advice}")
            continue
        students |= {printable(one_spelling(name)) for name in known.students or (claim.spelt,)}
        if len(item.claims) == 1 and len(known.students) > 1:
            group = printable(one_spelling(claim.spelt))
    code, file = FindingCode.OWNER_UNCERTAIN, item.path.name
    return tuple(sorted(students)), group, [Doubt(code, file, one) for one in reasons if one]


def folder_name(name: str) -> str:
    """Return a name close to the student's that is a valid folder name on any system."""
    safe = printable(name, LONGEST_FOLDER)
    safe = "".join("_" if character in '/\\:*?"<>|' else character for character in safe)
    return safe.strip(" .") or "student"
