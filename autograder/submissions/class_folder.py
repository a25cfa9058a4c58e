"""Read the submissions of a class: CLASS/<student>/<lesson>/…, and manifest.csv if it exists.

A folder without a row in the manifest belongs to the student it is named after. Several folders of
one student for one lesson are one submission.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from unicodedata import normalize

from autograder.codes import FindingCode
from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import printable, shortened
from autograder.submissions import kinds, manifest
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import WORK, Kind
from autograder.submissions.moments import latest, moment_of
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
    origin: str = ""  # the platform, if it was collected

    @property
    def owner(self) -> str:
        """Return the student or group that the folder is named after."""
        return self.folder.partition("/")[0]


def read_class(
    place: Path, lessons: Collection[str], meant: Callable[[str, str], str]
) -> list[Submission]:
    """Return the submissions in a class folder, sorted by lesson. Raises SettingsError.

    `meant` returns the student for a name in the manifest and the row that has it.
    """
    entries = listed(place)
    rows = manifest.read(place / manifest.NAME)
    if rows is None and are_lessons(entries, lessons):
        raise SettingsError(
            f"{shortened(place)} looks like one student's folder: name the folder of the class, "
            "which is above it"
        )
    submissions = [from_row(place, row, lessons, meant) for row in (rows or {}).values()]
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            submissions += without_row(entry, set(rows or ()), lessons)
    # With a single rubric, work without a lesson belongs to it.
    sole = next(iter(lessons)) if len(lessons) == 1 else None
    work_of = [replace(work, lesson=work.lesson or sole) for work in submissions]
    owned = (work for work in joined(work_of) if work.students)
    return sorted(owned, key=lambda work: (work.lesson or "", work.folder))


def listed(place: Path) -> list[Entry]:
    """Return the entries of an instructor's folder, sorted by name."""
    try:
        entries = scan(place)
    except OSError as error:
        raise SettingsError(f"{shortened(place)}: no readable folder ({why(error)})") from None
    return [entry for entry in entries if not kinds.is_clutter(entry.name)]


def are_lessons(entries: Sequence[Entry], lessons: Collection[str] = ()) -> bool:
    """Return whether the folders are one student's lessons: they have lesson names and outputs.

    In a download, `02` may be a student's number, and `02 Ben` may be a student in a numbered list.
    """
    folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    files = (file for entry in folders for file in scan(entry.path) if file.is_file())
    named = all(entry.name in lessons or COURSES.match(entry.name) for entry in folders)
    return named and any(kinds.kind_of(file.name) == Kind.OUTPUT for file in files)


def name_of(folder: str) -> str:
    """Return a student's name on one line, with é as one character. macOS writes it as two."""
    return printable(normalize("NFC", folder))


def folder_name(student: str) -> str:
    """Return a name close to the student's that is a valid folder name on any system."""
    safe = re.sub(r'[/\\:*?"<>|]', "_", printable(student, 100))
    return safe.strip(" .") or "student"


# --- with a row in the manifest -----------------------------------------------------------------


def from_row(
    home: Path, row: manifest.Row, lessons: Collection[str], meant: Callable[[str, str], str]
) -> Submission:
    place, where = home / row.folder, f"{home / manifest.NAME}: {shortened(row.folder)}"
    if row.students and not place.is_dir():
        raise SettingsError(
            f"{home / manifest.NAME}: there is no folder {shortened(row.folder)}. Collect it "
            "again, or remove the row"
        )
    lesson = kinds.lesson_among(row.lesson, lessons) or row.lesson
    return Submission(
        row.folder,
        (place,),
        tuple(dict.fromkeys(meant(name, where) for name in row.owners)),
        lesson or None,
        row.group,
        submitted=row.submitted or None,
        late=bool(row.late),
        doubts=tuple(manifest.doubts_in(row)),
        origin=row.origin,
    )


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
        path, lesson = Path(entry.path), kinds.folder_lesson(entry.name, lessons)
        if lesson and entry.is_dir(follow_symlinks=False):
            time, doubts = noted_time(path / kinds.TIMESTAMP)
            folder = f"{student.name}/{entry.name}"
            named.append(
                Submission(folder, (path,), name, lesson, submitted=time or None, doubts=doubts)
            )
        elif holds_work(path):
            loose.append(path)
    # A lesson without any work is listed only if the student submitted no other work.
    full = [work for work in named if holds_work(work.places[0])]
    yield from full or (() if loose else named)
    if loose or not (named or len(inside) < len(everything)):
        yield Submission(student.name, tuple(loose) or (Path(student.path),), name, None)


def holds_work(place: Path) -> bool:
    return holds(place, SHOWN) if place.is_dir() else kinds.kind_of(place.name) in SHOWN


def noted_time(path: Path, name: str = kinds.TIMESTAMP) -> tuple[str, tuple[Note, ...]]:
    """Return the first line of nbgrader's timestamp file, the time of submission."""
    try:
        with open_regular(path) as file:
            time = shortened(file.read(200).decode("utf-8", "replace").split("\n")[0])
    except (FileNotFoundError, NotADirectoryError):
        return "", ()
    except OSError as error:
        return "", (note_of(FindingCode.FILE_UNREADABLE, name, why(error)),)
    if time and moment_of(time) is None:
        return "", (note_of(FindingCode.TIME_UNREAD, name, time),)
    return time, ()


def joined(submissions: Sequence[Submission]) -> Iterator[Submission]:
    """Join folders of the same students for the same lesson into one submission.

    Students of the same group who submitted separately are partners: their work may be the same.
    """
    of_group = grouped(((s.group, s.lesson), s.students) for s in submissions if s.group)
    for every in grouped(((s.students, s.lesson), s) for s in submissions).values():
        same = [part for part in every if not any(replaces(other, part) for other in every)]
        left_out = [part for part in every if part not in same]
        detail = shortened("left out: " + ", ".join(part.folder for part in left_out), 300)
        ran = [any(holds(p, {Kind.OUTPUT}) for w in s for p in w.places) for s in (left_out, same)]
        code = FindingCode.OUTPUTS_LEFT_OUT if ran == [True, False] else FindingCode.LATEST_COUNTS
        notes = [note_of(code, "", detail)] if left_out else []
        members = of_group.get((same[0].group, same[0].lesson), ())
        yield replace(
            same[0],
            places=tuple(place for part in same for place in part.places),
            partners=frozenset(chain.from_iterable(members)),
            submitted=latest(part.submitted for part in same if part.submitted) or None,
            late=any(part.late for part in same),
            doubts=(*(doubt for part in same for doubt in part.doubts), *notes),
        )


def replaces(new: Submission, old: Submission) -> bool:
    """Return whether a student's own folder replaces one whose row got the student by hand.

    On a platform, the roster probably lacked the student's id when the work was first collected.
    """
    own, other = (s.owner == folder_name(s.group or "+".join(s.students)) for s in (new, old))
    times = [s.submitted or "" for s in (new, old)]
    is_older = all(times) and latest(times) != times[0]
    of_platform = old.origin not in ("", "folders") and new.origin == old.origin
    return own and not other and of_platform and not is_older


def strays(paths: Iterable[Path]) -> list[str]:
    """Return the names of links, and of files outside any student's folder that may be work."""
    return [
        printable(path.name, 80)
        for path in paths
        if path.is_symlink() or (kinds.kind_of(path.name) in SHOWN and not path.is_dir())
    ]
