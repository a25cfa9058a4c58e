"""Folders in which a whole class's hand-ins lie: of one assignment among others, or unpacked.

Names of a class's folders are the instructor's or the platform's, but what lies in a student's own
is the student's, who may call it as a platform would. So a folder of an assignment is looked into
only where no student's own folder lies beside it.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.safe_text import shortened
from autograder.submissions import archives
from autograder.submissions.claims import Claim, WhoIs, nobody
from autograder.submissions.downloads import CLONES, handed_in, of_known
from autograder.submissions.file_kinds import NO_OUTPUT, OUTPUT, is_answers, is_package
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.one_or_many import are_lessons, claim_of, is_clone, is_dir, listed

Entry = os.DirEntry[str]
INNER = ("submitted", "inbound")  # nbgrader's, for who names the folder above
ENOUGH_KNOWN = 2  # students in the roster; one a classmate's forged folder may be
DEEPEST = 3  # folders below another student's in which work is looked for


def boxes_in(entries: Sequence[Entry], who: WhoIs, say: Callable[[str], None]) -> list[Entry]:
    """The folders of assignments among a place's entries; none, if students' own are there too."""
    boxes = [entry for entry in entries if is_dir(entry) and may_be_box(entry, who)]
    others = (entry for entry in entries if entry not in boxes and not packs(entry, boxes))
    own = next((other for other in others if is_students(other, who)), None) if boxes else None
    if own is None:
        return boxes
    names = ", ".join(box.name for box in boxes)
    say(
        f"{shortened(names, 120)}: taken as students' own, because {shortened(own.name, 60)} lies "
        "beside. A folder with a class in it has to be named itself."
    )
    return []


def may_be_box(entry: Entry, who: WhoIs) -> bool:
    """Called after a lesson, or as tools that clone do, and with students in it that a platform or
    the roster names."""
    tool = bool(CLONES.match(entry.name))
    if not tool and not (lesson_of(entry.name) or hinted_lesson(entry.name)):
        return False
    if is_clone(entry) or who(Claim(entry.name)).students:
        return False
    place = Path(entry.path)
    inside = listed(place)
    if any(who(claim_of(one)).students for one in inside if is_dir(one) or is_package(one.name)):
        return True
    named = handed_in(place, inside, who)
    rest = [one for one in inside if is_dir(one) and not of_known(one, named)]
    if any(lesson_of(one.name) for one in rest):
        return False  # a student's own, whatever else lies in it
    return bool(named) or (tool and is_class(place, who))


def known_in(box: Entry, who: WhoIs) -> list[str]:
    """The students of the roster that folders and archives in it are called after."""
    place = Path(box.path)
    inside = listed(place)
    claims = [claim for one in handed_in(place, inside, who) for claim in one.claims]
    claims += [claim_of(one) for one in inside if is_dir(one) or is_package(one.name)]
    return sorted({student for claim in claims for student in who(claim).students})


def packs(entry: Entry, boxes: Sequence[Entry]) -> bool:
    """The archive that a folder came out of."""
    return any(entry.name.startswith(f"{box.name}.") and is_package(entry.name) for box in boxes)


def is_students(entry: Entry, who: WhoIs) -> bool:
    if is_dir(entry):
        return bool(who(claim_of(entry)).students) or holds_work(Path(entry.path))
    return is_package(entry.name)


def holds_work(place: Path, deep: int = DEEPEST) -> bool:
    entries = listed(place)
    files = [entry.name for entry in entries if not is_dir(entry)]
    if any(map(is_work, files)):
        return True
    return deep > 0 and any(holds_work(Path(e.path), deep - 1) for e in entries if is_dir(e))


def is_work(name: str) -> bool:
    output = OUTPUT.match(name) and name.lower() not in NO_OUTPUT
    return bool(output) or is_answers(name) or is_package(name)


def are_boxes(entries: Sequence[Entry], who: WhoIs) -> bool:
    """Several assignments, or one in which the roster knows several students."""
    boxes = boxes_in(entries, who, lambda text: None)
    return len(boxes) > 1 or any(len(known_in(box, who)) >= ENOUGH_KNOWN for box in boxes)


def are_packed_students(entries: Sequence[Entry]) -> bool:
    """Archives beside each other that are not called after lessons, and no work besides."""
    packed = [one for one in entries if is_package(one.name) and not is_dir(one)]
    if len(packed) < 2 or all(lesson_of(archives.stem(one.name)) for one in packed):
        return False
    return not any(is_loose_work(one) for one in entries if one not in packed)


def is_loose_work(entry: Entry) -> bool:
    return is_work(entry.name) and not is_dir(entry)


def have_answers_each(entries: Sequence[Entry], folders: Sequence[Entry]) -> bool:
    """Several folders that are no lessons, and no work beside them."""
    if are_lessons([one.name for one in folders]) or any(map(is_loose_work, entries)):
        return False
    inside = (listed(Path(one.path)) for one in folders if not lesson_of(one.name))
    return sum(any(is_answers(one.name) for one in found) for found in inside) > 1


# --- a whole class, unpacked ------------------------------------------------------------------


def below_wrapper(home: Path) -> Path:
    """A zip may hold one folder in which all others lie."""
    for _ in range(3):
        entries = listed(home)
        if len(entries) != 1 or not is_dir(entries[0]):
            break
        lesson = lesson_of(entries[0].name) or handed_in(home, entries, nobody)
        if lesson and not CLONES.match(entries[0].name):
            break
        home = Path(entries[0].path)
    return home


def is_class(home: Path, who: WhoIs) -> bool:
    entries = listed(home)
    if any(os.path.isdir(home / name) for name in INNER) or handed_in(home, entries, who):
        return True
    apart = [one for one in entries if is_dir(one) or is_package(one.name)]
    if any(who(claim_of(one)).students for one in apart) or are_boxes(entries, who):
        return True
    folders = [entry for entry in entries if is_dir(entry)]
    if are_packed_students(entries) or have_answers_each(entries, folders):
        return True
    inside = [[one.name for one in listed(Path(entry.path))] for entry in folders]
    named = any(lesson_of(entry.name) for entry in folders)
    having = sum(any(map(lesson_of, names)) for names in inside)
    return not named and having > 1 and 2 * having >= len(folders)  # some handed in a mess
