"""Find the owner of each item in a download.

An owner is a student on the roster or, otherwise, the name that the platform gives.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.codes import FindingCode
from autograder.collect.download import Item
from autograder.safe_text import printable
from autograder.settings.claims import Known, WhoIs, one_spelling
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
        name = group or (students[0] if len(students) == 1 else "+".join(students))
        name = folder_name(name or item.claims[0].spelt)
        if name in found and found[name].students != students:
            name = folder_name(f"{name} {'+'.join(students)}")
        one = found.setdefault(name, Owned(name, students, group))
        one.items.append(item)
        one.doubts += [doubt for doubt in doubts if doubt not in one.doubts]
    for one in found.values():
        one.doubts += two_folders(one)
    return sorted(found.values(), key=lambda one: one.folder)


def whose(item: Item, who: WhoIs) -> tuple[tuple[str, ...], str, list[Doubt]]:
    """Return an item's students, their group, and the doubts about them."""
    known = [who(claim) for claim in item.claims]
    students: set[str] = set()
    for claim, found in zip(item.claims, known, strict=True):
        if not found.may_be:
            students |= {printable(one_spelling(n)) for n in found.students or (claim.spelt,)}
    together = len(item.claims) == 1 and len(known[0].students) > 1
    group = printable(one_spelling(item.claims[0].spelt)) if together else ""
    return tuple(sorted(students)), group, list(doubts_of(item, known))


def doubts_of(item: Item, known: Iterable[Known]) -> Iterable[Doubt]:
    for found in known:
        if found.doubt:
            yield Doubt(FindingCode.OWNER_UNCERTAIN, item.path.name, found.doubt)
        if found.may_be:
            names = " or ".join(found.may_be)
            of_moodle = any(not claim.lasting for claim in item.claims)
            advice = "; --worksheet tells them apart" if of_moodle else ""
            yield Doubt(
                FindingCode.OWNER_UNCERTAIN, item.path.name, f"it may be from {names}{advice}"
            )


def two_folders(one: Owned) -> list[Doubt]:
    """Return a doubt if items with different hand-written names were matched with one student."""
    plain = {
        one_spelling(item.claims[0].spelt)
        for item in one.items
        if not item.called and not item.label and not item.claims[0].ids
    }
    if len(plain) < 2:
        return []
    detail = f"{' and '.join(sorted(plain))} were both matched with {one.folder}"
    return [Doubt(FindingCode.OWNER_UNCERTAIN, "", detail)]


def folder_name(name: str) -> str:
    """Return a name close to the student's that is a valid folder name on any system."""
    safe = printable(name, LONGEST_FOLDER)
    safe = "".join("_" if character in '/\\:*?"<>|' else character for character in safe)
    return safe.strip(" .") or "student"
