"""Who handed in, and where: folders, archives or bare files, in any of the usual layouts.

<student>/<lesson>/…            also below nbgrader's submitted/
<student>.zip or .tar.gz        with the lesson's folder or its files inside
<student>/<anything>.zip        as learning platforms hand them out
submission/ beside submission_metadata.json         Gradescope
output_123.out answers.txt      bare files: one student, one lesson
downloads of platforms          downloads.py, also one zip of a whole class, if it is named itself
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.safe_text import printable, shortened
from autograder.submissions import archives
from autograder.submissions.boxes import (
    ENOUGH_KNOWN,
    INNER,
    below_wrapper,
    boxes_in,
    is_class,
    is_work,
    known_in,
    may_be_box,
)
from autograder.submissions.claims import Claim, Handed, Said, WhoIs, nobody, one_spelling
from autograder.submissions.downloads import EXPORT, handed_in, of_known
from autograder.submissions.file_kinds import is_clutter, is_package, is_wanted
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.one_or_many import claim_of, is_dir, is_of_one_student
from autograder.submissions.programs import is_program
from autograder.submissions.regular_files import open_regular

MOST_IN_CLASS, LARGEST_CLASS = 200_000, 32 << 30  # files and bytes of a class in one archive
MOST_SAID = 5
FEW = 5  # folders, all of which are looked into
METADATA = ("submission_metadata.json", EXPORT)  # of Gradescope

Say = Callable[[str], None]


class NoSubmissionsError(Exception):
    """A named place that cannot be looked into; the message is for the instructor."""


@dataclass(frozen=True, slots=True)
class Student:
    """One student's place in the submissions; looked into only when graded."""

    name: str
    places: tuple[Path, ...]  # folders, archives, or the bare files themselves
    lesson: str | None = None  # when the files lie without a lesson's folder
    said: Mapping[Path, Said] = field(default_factory=dict)  # by the platform, of some places
    # Places out of a class's archive, and the new folder that it was unpacked to this time.
    unpacked: Mapping[Path, Path] = field(default_factory=dict)
    # Whose hand-ins count for this one too, and for which lesson alone, if not for all; without
    # places where nothing was handed in by that name.
    partners: "tuple[tuple[Student, str | None], ...]" = ()
    packages: bool = True  # open archives below; in a student's own folder they are old copies


@dataclass(frozen=True, slots=True)
class Look:
    """How places are looked at."""

    name: str | None  # of whoever's own place it is
    who: WhoIs
    unpacked: ExitStack | None  # removes what was unpacked; None: a class's archive is not opened
    say: Say


def find_students(
    places: Iterable[Path],
    name: str | None = None,
    lesson: str | None = None,
    who: WhoIs = nobody,
    unpacked: ExitStack | None = None,
    say: Say = lambda text: None,
) -> list[Student]:
    """The students below the named places, sorted by name. Raises NoSubmissionsError."""
    places = list(places)
    check_there(places)
    look = Look(name, who, unpacked, say)
    files = [place for place in places if os.path.isfile(place) and not is_package(place.name)]
    called = told_apart([*places, *(place.parent for place in places if not os.path.isdir(place))])
    found = []
    for place in places:
        bare = [Handed(place, (Claim(name or "submission"),))] if place in files else []
        for handed in bare or students_in(place, look):
            found.append(replace(handed, lies_in=lies_in(handed, place, called)))
    homes = {handed.path: handed.unpacked for handed in found if handed.unpacked}
    by_name: dict[str, dict[Path, Said]] = {}
    plainly: dict[tuple[str, Path], dict[str, Path]] = {}  # folders that no platform named
    for handed in found:
        students, said = whose(handed, who)
        for student in students:
            by_name.setdefault(student, {})[handed.path] = said
            if not said.called and not any(claim.ids for claim in handed.claims):
                names = plainly.setdefault((student, handed.path.parent), {})
                names[one_spelling(handed.claims[0].spelt)] = handed.path
    for (student, _), paths in plainly.items():
        if len(paths) > 1 and not all(by_name[student][path].label for path in paths.values()):
            doubt = f"{' and '.join(sorted(paths))} were both taken as {student}'s"
            for path in paths.values():
                by_name[student][path] = replace(by_name[student][path], doubt=doubt)
    only = places[0] if len(places) == 1 else None  # a lesson's own folder says its lesson
    if lesson is None and only is not None and [only] in [list(one) for one in by_name.values()]:
        lesson = lesson_of(only.resolve().name)
    return [
        Student(name, in_order(paths), lesson, told(paths), among(paths, homes))
        for name, paths in sorted(by_name.items())
    ]


def check_there(places: Iterable[Path]) -> None:
    for place in places:
        try:
            place.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise NoSubmissionsError(
                f"{shortened(place)} does not exist. Name the folder with the submissions."
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise NoSubmissionsError(f"{shortened(place)} cannot be looked into: {why}") from None


def told_apart(places: Iterable[Path]) -> dict[Path, str]:
    """By as few of their last names as tell them from each other."""
    whole = {place: Path(os.path.abspath(place)).parts for place in places}
    most = max(map(len, whole.values()), default=0)
    for count in range(1, most + 1):
        names = {place: str(Path(*parts[-count:])) for place, parts in whole.items()}
        if len(set(names.values())) == len(set(whole.values())):
            return names
    return {}


def lies_in(handed: Handed, place: Path, called: Mapping[Path, str]) -> str:
    """Alike from call to call, wherever the class was unpacked to."""
    top = handed.unpacked or place
    if handed.path == top:
        return called[place if os.path.isdir(handed.path) else place.parent]
    return str(Path(called[place], handed.path.parent.relative_to(top)))


def in_order(places: Mapping[Path, Said]) -> tuple[Path, ...]:
    return tuple(sorted(places, key=lambda path: (places[path].lies_in, path)))


def whose(handed: Handed, who: WhoIs) -> tuple[list[str], Said]:
    """The students that a place is of, and what is to be known of it."""
    known = [who(claim) for claim in handed.claims]
    students = {
        one_spelling(name)
        for claim, found in zip(handed.claims, known, strict=True)
        for name in found.students or (claim.spelt,)
    }
    said = Said(
        handed.called,
        handed.lesson,
        handed.time,
        handed.late,
        handed.label,
        "; ".join(found.doubt for found in known if found.doubt),
        tuple(sorted(students)) if len(students) > 1 else (),
        handed.lies_in,
    )
    return sorted(students), said


def among(places: Iterable[Path], homes: Mapping[Path, Path]) -> dict[Path, Path]:
    return {path: homes[path] for path in sorted(places) if path in homes}


def told(places: Mapping[Path, Said]) -> dict[Path, Said]:
    nothing = Said()
    return {path: said for path, said in sorted(places.items()) if said != nothing}


def students_in(place: Path, look: Look) -> Iterator[Handed]:
    """What lies in one place, each with the name that says whose it is."""
    if is_package(place.name) and os.path.isfile(place):
        home = class_in(place, look)
        if home is None:
            yield Handed(place, (Claim(look.name or archives.stem(place.name)),))
        else:
            for handed in students_in(home, look):
                yield replace(handed, unpacked=home)
        return
    place = next((place / name for name in INNER if os.path.isdir(place / name)), place)
    gradescope = place.parent / METADATA[0]
    if place.name == "submission" and os.path.isfile(gradescope):
        yield Handed(place, (Claim(look.name or gradescope_student(gradescope)),))
        return
    entries = entries_of(place)
    named = handed_in(place, entries, look.who)
    if named and look.name:  # whatever a student called folders: they are this student's
        yield Handed(place, (Claim(look.name),))
        return
    yield from named
    rest = [entry for entry in entries if not of_known(entry, named)]
    folders = [entry for entry in rest if is_dir(entry)]
    boxes = [] if named else boxes_in(rest, look.who, look.say)
    if len(boxes) == 1 and boxes[0].name.isdecimal():
        check_lone(boxes[0], look)
    for box in boxes:
        lesson = lesson_of(box.name) or hinted_lesson(box.name)
        for handed in students_in(Path(box.path), look):
            yield replace(handed, lesson=handed.lesson or lesson)
    if not named and not boxes and is_of_one_student(place, entries, folders, look.who):
        yield Handed(place, (Claim(look.name or place.resolve().name),))
        return
    say_several([entry for entry in folders if entry not in boxes], look)
    for entry in folders:
        if entry not in boxes:
            yield Handed(Path(entry.path), (claim_of(entry),))
    for entry in rest:
        if is_package(entry.name) and not is_dir(entry):
            yield Handed(Path(entry.path), (claim_of(entry),))
    say_left_out(rest, look.say)


def check_lone(box: os.DirEntry[str], look: Look) -> None:
    """A bare number with a platform's names in it, and nothing beside it that says whose it is: a
    student may have called folders as a platform would, after somebody else."""
    number, known = box.name, known_in(box, look.who)
    if len(known) < ENOUGH_KNOWN:
        raise NoSubmissionsError(
            f"{number} may be an assignment with a class in it or one student's own folder, and "
            f"nothing beside it says which. Name it itself, {box.path}, for an assignment, with "
            f"--student {number} for a student; or give a --roster that knows two students in it."
        )
    names = ", ".join(printable(name, 60) for name in known[:2])
    look.say(
        f"{number}: taken as an assignment's folder, because hand-ins of {names} lie in it. If it "
        f"is one student's own, name it itself, with --student {number}."
    )


def say_several(folders: Sequence[os.DirEntry[str]], look: Look) -> None:
    """A folder in which a class seems to lie is one student's all the same, and may be made up."""
    for entry in folders:
        if look.who(claim_of(entry)).students:
            continue
        inside = ", ".join(known_in(entry, look.who)[:ENOUGH_KNOWN])
        if "," not in inside:
            inside = "several students"
            if len(folders) > FEW or not is_class(Path(entry.path), look.who):
                continue
        if may_be_box(entry, look.who):  # boxes_in() said it
            continue
        look.say(
            f"{printable(entry.name, 80)}: taken as one student's own, though hand-ins of {inside} "
            f"seem to lie in it. If these are a class's, name it itself."
        )


def say_left_out(entries: Iterable[os.DirEntry[str]], say: Say) -> None:
    """What lies beside students' folders is nobody's; what may be somebody's work is named."""
    found = [f"{one.name} (a link, which is not followed)" for one in entries if one.is_symlink()]
    found += [
        one.name
        for one in entries
        if is_work(one.name) and not is_package(one.name) and one.is_file(follow_symlinks=False)
    ]
    if found:
        more = f" and {len(found) - MOST_SAID} more" if len(found) > MOST_SAID else ""
        names = ", ".join(printable(name, 80) for name in found[:MOST_SAID])
        say(f"In no student's folder, and so nobody's: {names}{more}")


def entries_of(place: Path) -> list[os.DirEntry[str]]:
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise NoSubmissionsError(f"{place} cannot be read: {error.strerror}") from None
    return [entry for entry in entries if not is_clutter(entry.name)]


# --- a class in one archive -------------------------------------------------------------------


def class_in(archive: Path, look: Look) -> Path | None:
    """The unpacked folder of a class that was downloaded as one zip; None: it is a student's."""
    if look.unpacked is None or look.name or not archive.name.lower().endswith(".zip"):
        return None
    new = Path(look.unpacked.enter_context(TemporaryDirectory(prefix="autograder-class-")))
    home = new / archives.stem(archive.name)  # which may say what lies in it
    home.mkdir()
    odd = archives.unpack(
        archive,
        archive.name,
        home,
        lambda path: not any(map(is_clutter, path.parts)),
        archives.Limits(MOST_IN_CLASS, LARGEST_CLASS),
        named_alone=lambda path: not is_read(path.name),
    )
    home = below_wrapper(home)
    if not is_class(home, look.who):
        return None
    for finding in odd:
        look.say(f"{archive.name}: {finding.title}: {finding.found}")
    return home


def is_read(name: str) -> bool:
    """Not the checkpoints of a class, which would fill a disk."""
    return is_wanted(name) or is_package(name) or is_program(name) or name in METADATA


def gradescope_student(metadata: Path) -> str:
    try:
        with open_regular(metadata) as file:
            users = json.load(file)["users"]
        return str(users[0].get("email") or users[0].get("name") or users[0]["id"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "submission"
