"""Read the submissions of a class: CLASS/<student>/<lesson>/…, and manifest.csv if it exists.

A folder without a row in the manifest belongs to the student it is named after. Several folders of
one student for one lesson are one submission, and this is reported.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unicodedata import normalize

from autograder.codes import FindingCode
from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import printable, shortened
from autograder.submissions import manifest
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import (
    TIMESTAMP,
    WORK,
    Kind,
    folder_lesson,
    is_clutter,
    kind_of,
    lesson_among,
)
from autograder.submissions.moments import latest
from autograder.submissions.walk import Entry, holds, open_regular, scan, why

SHOWN = WORK | {Kind.REPORT, Kind.ARCHIVE, Kind.UNOPENED_ARCHIVE, Kind.UNREAD_ANSWERS}
COURSES = re.compile(r"\d\d_[a-z]\w*\Z")


@dataclass(frozen=True, slots=True)
class Submission:
    """The work that one or several students submitted for one lesson."""

    folder: str  # as the manifest names it: ada/02
    places: tuple[Path, ...]
    students: tuple[str, ...]
    lesson: str | None  # None: found from the outputs
    group: str = ""
    partners: frozenset[str] = frozenset()  # group members who may have submitted the same
    submitted: str | None = None
    late: bool = False  # marked late by the platform
    doubts: tuple[Note, ...] = ()

    @property
    def owner(self) -> str:
        """Return the student or group that the folder is named after."""
        return self.folder.partition("/")[0]


def read_class(place: Path, lessons: Collection[str]) -> list[Submission]:
    """Return the submissions in a class folder, sorted by lesson. Raises SettingsError."""
    entries = listed(place)
    rows = manifest.read(place / manifest.NAME)
    if rows is None and are_lessons(entries, lessons):
        raise SettingsError(
            f"{shortened(place)} looks like one student's folder: name the folder of the class, "
            "which is above it"
        )
    found = [from_row(place, row, lessons) for row in (rows or {}).values()]
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            found += without_row(entry, set(rows or ()), lessons)
    owned = (one for one in joined(found) if one.students)
    return sorted(owned, key=lambda one: (one.lesson or "", one.folder))


def listed(place: Path, expected: str = "CLASS/<student>/<lesson>/…") -> list[Entry]:
    """Return the entries of an instructor's folder, sorted by name."""
    try:
        entries = scan(place)
    except (OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise SettingsError(
            f"{shortened(place)} cannot be read as a folder ({reason}). Expected: {expected}"
        ) from None
    return [entry for entry in entries if not is_clutter(entry.name)]


def are_lessons(entries: Sequence[Entry], lessons: Collection[str] = ()) -> bool:
    """Return whether the folders are one student's lessons: they have lesson names and outputs.

    In a download, `02` may be a student's number, and `02 Ben` may be a student in a numbered list.
    """
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    inside = (one for entry in folders for one in scan(entry.path) if one.is_file())
    named = all(one.name in lessons or COURSES.match(one.name) for one in folders)
    return named and any(kind_of(one.name) == Kind.OUTPUT for one in inside)


def name_of(folder: str) -> str:
    """Return a student's name on one line, with the same encoding of é on all systems."""
    return printable(normalize("NFC", folder))


def folder_name(student: str) -> str:
    """Return a name close to the student's that is a valid folder name on any system."""
    safe = re.sub(r'[/\\:*?"<>|]', "_", printable(student, 100))
    return safe.strip(" .") or "student"


# --- with a row in the manifest -----------------------------------------------------------------


def from_row(home: Path, row: manifest.Row, lessons: Collection[str]) -> Submission:
    place = home / row.folder
    if row.students and not place.is_dir():
        raise SettingsError(
            f"{home / manifest.NAME}: there is no folder {shortened(row.folder)}. Collect it "
            "again, or remove the row"
        )
    lesson = lesson_among(row.lesson, lessons) or row.lesson or sole_lesson(lessons)
    return Submission(
        row.folder,
        (place,),
        tuple(map(name_of, row.owners)),
        lesson,
        row.group,
        submitted=row.submitted or None,
        late=bool(row.late),
        doubts=tuple(manifest.doubts_in(row)),
    )


def sole_lesson(lessons: Collection[str]) -> str | None:
    """Return the lesson if there is only one rubric, because all work then belongs to it."""
    return next(iter(lessons)) if len(lessons) == 1 else None


# --- without a row ------------------------------------------------------------------------------


def without_row(
    student: Entry, rows: Collection[str], lessons: Collection[str]
) -> Iterator[Submission]:
    """Yield a submission for each lesson's folder, and one for all other files."""
    name = (name_of(student.name),)
    try:
        everything = listed(Path(student.path))
    except SettingsError:  # the error is reported when the folder is read
        everything = []
    inside = [entry for entry in everything if f"{student.name}/{entry.name}" not in rows]
    named: list[Submission] = []
    loose: list[Path] = []
    for entry in inside:
        path, lesson = Path(entry.path), folder_lesson(entry.name, lessons)
        if lesson and entry.is_dir(follow_symlinks=False):
            time, doubts = noted_time(path / TIMESTAMP)
            folder = f"{student.name}/{entry.name}"
            named.append(
                Submission(folder, (path,), name, lesson, submitted=time or None, doubts=doubts)
            )
        elif holds_work(path):
            loose.append(path)
    # A lesson without any work is listed only if the student submitted no other work.
    full = [one for one in named if holds_work(one.places[0])]
    yield from full or (() if loose else named)
    if loose or not (named or len(inside) < len(everything)):
        yield Submission(
            student.name, tuple(loose) or (Path(student.path),), name, sole_lesson(lessons)
        )


def holds_work(place: Path) -> bool:
    return holds(place, SHOWN) if place.is_dir() else kind_of(place.name) in SHOWN


def noted_time(path: Path, name: str = TIMESTAMP) -> tuple[str, tuple[Note, ...]]:
    """Return the first line of nbgrader's timestamp file, the time of submission."""
    try:
        with open_regular(path) as file:
            return shortened(file.read(200).decode("utf-8", "replace").split("\n")[0]), ()
    except (FileNotFoundError, NotADirectoryError):
        return "", ()
    except OSError as error:
        return "", (note_of(FindingCode.FILE_UNREADABLE, name, why(error)),)


def joined(found: Iterable[Submission]) -> Iterator[Submission]:
    """Join folders of the same students for the same lesson into one submission.

    Students of the same group who submitted separately are partners: their work may be the same.
    """
    found = list(found)
    of_group = grouped(((one.group, one.lesson), one.students) for one in found if one.group)
    for same in grouped(((one.students, one.lesson), one) for one in found).values():
        members = of_group.get((same[0].group, same[0].lesson), ())
        yield replace(
            same[0],
            places=tuple(place for one in same for place in one.places),
            partners=frozenset(student for some in members for student in some),
            submitted=latest(one.submitted for one in same if one.submitted) or None,
            late=any(one.late for one in same),
            doubts=tuple(doubt for one in same for doubt in one.doubts),
        )


def strays(paths: Iterable[Path]) -> list[str]:
    """Return the names of files outside any student's folder that may be somebody's work."""
    names = {path: printable(path.name, 80) for path in paths}
    return [
        f"{name} (a link, which is not followed)" if path.is_symlink() else name
        for path, name in names.items()
        if path.is_symlink() or (kind_of(path.name) in SHOWN and not path.is_dir())
    ]
