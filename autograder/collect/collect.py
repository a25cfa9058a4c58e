"""Turn a platform's download into CLASS/<student>/<lesson>/ and manifest.csv."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from autograder.codes import FindingCode
from autograder.collect import drop
from autograder.collect.download import (
    About,
    Item,
    Piece,
    keep_latest,
    pieces_of,
    submitted,
    unpack,
)
from autograder.collect.groups import Groups, with_groups
from autograder.collect.lesson_folder import named, write_folder
from autograder.collect.lessons import Lessons, named_lesson, recorded_lessons, sort_out
from autograder.collect.platforms import DROP, FOLDERS, PLATFORMS, below_wrapper
from autograder.errors import SettingsError
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import printable, shortened
from autograder.settings.roster import WhoIs
from autograder.submissions import doubts, manifest
from autograder.submissions.class_folder import are_lessons, folder_name, listed, name_of, strays
from autograder.submissions.doubts import file_of, note_of
from autograder.submissions.kinds import TYPED, WORK, Kind, kind_of, stem
from autograder.submissions.lesson_files import digest_of
from autograder.submissions.manifest import AND, Row, Rows
from autograder.submissions.moments import latest, moment_of
from autograder.submissions.walk import holds

UNKNOWN = "unknown"  # the folder for work without a known lesson


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of collecting a download."""

    platform: str
    lessons: Collection[str]
    who: WhoIs
    lesson: str = ""  # the lesson of all files; empty: found for each file
    participants: Mapping[str, About] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)


@dataclass(slots=True)
class Collected:
    """The result of collecting: new rows, all rows, and what a person should know."""

    new: list[Row] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    nobodys: list[str] = field(default_factory=list)  # files that belong to no student
    removed: list[str] = field(default_factory=list)  # files that the download does not have
    replaced: list[str] = field(default_factory=list)  # folders whose files were replaced
    ended: list[str] = field(default_factory=list)  # edits about submissions that were replaced


def collect(downloads: Sequence[Path], home: Path, wanted: Wanted) -> Collected:
    done = Collected()
    with ExitStack() as stack:
        items = []
        for number, place in enumerate(downloads, 1):
            # Students read this name, so it does not contain the instructor's.
            name = f"download {number}" if len(downloads) > 1 else ""
            for item in items_in(place, wanted, stack, done):
                items.append(replace(item, label="/".join(filter(None, (name, item.label)))))
        home.mkdir(parents=True, exist_ok=True)
        before = manifest.read(home / manifest.COPY) or {}
        for owner in owned(items, wanted.who):
            done.new += rows_of(owner, home, wanted, stack, before, done)
    kept = {folder: row for folder, row in before.items() if (home / folder).is_dir()}
    collected = kept | {row.folder: row for row in done.new}
    if wanted.groups:
        empty = {folder for folder in collected if not holds(home / folder, WORK)}
        rows = with_groups(collected.values(), wanted.groups, empty)
        collected = {row.folder: row for row in rows}
    done.rows, done.ended = manifest.update(home, collected, done.replaced)
    return done


# --- a download -----------------------------------------------------------------------------------


def items_in(download: Path, wanted: Wanted, stack: ExitStack, done: Collected) -> Iterator[Item]:
    if wanted.platform == DROP:
        yield from drop.items(download, stack, done.nobodys)
        return
    platform, name = PLATFORMS[wanted.platform], shortened(download)
    place = download if download.is_dir() else unpacked(download, stack, done)
    if place != download or wanted.platform != FOLDERS:
        place = below_wrapper(place, platform)
    if wanted.platform == FOLDERS and are_lessons(listed(place)):
        raise SettingsError(f"{name} looks like one student's folder: name the folder above it")
    items = list(platform.items(place, wanted.participants))
    if not items:
        others = [name for name in PLATFORMS if name != FOLDERS and PLATFORMS[name].matches(place)]
        hint = f"; they look like --from {others[0]}" if others else ""
        raise SettingsError(
            f"{name} has no submissions with the names that {wanted.platform} uses, which "
            f"are in docs/grading.md{hint}"
        )
    taken = {path for item in items for path in (item.path, item.path.parent)}
    left = [path for entry in listed(place) if (path := Path(entry.path)) not in taken]
    folders = [path for path in left if path.is_dir() and not path.is_symlink()]
    done.nobodys += [*strays(left), *(printable(path.name, 80) for path in folders)]
    yield from items


def unpacked(archive: Path, stack: ExitStack, done: Collected) -> Path:
    """Unpack a class that came as one archive.

    The folder is named after the archive, because the archive's name may contain the lesson.
    """
    if kind_of(archive.name) != Kind.ARCHIVE:
        raise SettingsError(
            f"{archive} is neither a folder nor an archive: name the platform's download"
        )
    new = Path(stack.enter_context(TemporaryDirectory(prefix="autograder-class-")))
    home = new / stem(archive.name)
    home.mkdir()
    doubts = unpack(archive, archive.name, home, most=200_000, size=32 << 30)
    done.nobodys += [doubt.actual for doubt in doubts]
    return home


# --- one owner ------------------------------------------------------------------------------------


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
    owners: dict[str, Owned] = {}
    for item in items:
        known = {claim: tuple(map(name_of, who(claim))) for claim in item.claims}
        students = tuple(sorted({student for names in known.values() for student in names}))
        first = item.claims[0].name
        group = name_of(first) if len(known) == 1 and len(students) > 1 else ""
        name = folder_name(group or "+".join(students) or name_of(first))
        owner = owners.setdefault(name, Owned(name, students, group))
        owner.items.append(item)
        for claim in (claim for claim, names in known.items() if not names):
            owner.doubts.append(note_of(FindingCode.OWNER_UNKNOWN, "", shortened(claim)))
    return sorted(owners.values(), key=lambda owner: owner.folder)


def rows_of(
    owner: Owned, home: Path, wanted: Wanted, stack: ExitStack, before: Rows, done: Collected
) -> Iterator[Row]:
    """Write the folders of all of an owner's lessons, and yield their rows."""
    pieces, notes = list[Piece](), list[tuple[str, str, Note]]()
    stamped = PLATFORMS[wanted.platform].stamped
    for item in owner.items:
        files, odd = pieces_of(item, stack)
        pieces += [file for file in files if stamped or file.kind != Kind.TIMESTAMP]
        notes += [(named_lesson(PurePath(file_of(n)), wanted.lessons), item.label, n) for n in odd]
    lessons = of_lesson(pieces, wanted) if wanted.lesson else sort_out(pieces, wanted.lessons)
    counting = {*WORK, Kind.REPORT}
    worked_on = {name for name, some in lessons.items() if any(p.kind in counting for p in some)}
    first = min(filter(None, worked_on), default="") or min(filter(None, lessons), default="")
    # A doubt about a file without a lesson is shown with the first lesson of the same attempt.
    ordered = sorted(filter(None, worked_on), reverse=True)
    firsts = {piece.item.label: name for name in ordered for piece in lessons[name]}
    about = grouped(
        (wanted.lesson or name or firsts.get(label, first), doubt) for name, label, doubt in notes
    )
    # A lesson without any work is listed only if the student submitted no other work.
    for lesson in sorted(worked_on | about.keys() or lessons.keys() or {""}):
        odd = [*owner.doubts, *about.get(lesson, ())]
        own = lessons.get(lesson, [])
        if any(piece.kind == Kind.ANSWERS for piece in own):  # then a typed text is a greeting
            odd = [note for note in odd if PurePath(file_of(note)).name != TYPED]
        row, chosen = row_of(owner, lesson, own, odd, wanted)
        earlier = before.get(row.folder, row)
        if not chosen and holds(home / row.folder, WORK):  # a person may have put it there
            row = replace(row, submitted=earlier.submitted, late=earlier.late)
        else:
            old, new, unreadable = write_folder(home / row.folder, chosen)
            odd += unreadable
            kept = new.values()  # a file may only have another name now
            gone = sorted(name for name in old.keys() - new.keys() if old[name] not in kept)
            done.removed += [f"{row.folder}/{name}" for name in gone]
            done.replaced += [row.folder] if old and old != new else []
        yield replace(row, doubts=doubts.written(list(dict.fromkeys(odd))))


def of_lesson(pieces: list[Piece], wanted: Wanted) -> Lessons:
    """Return the files for `--lesson`, without other lessons' folders if one has its name."""
    named = [(piece, named_lesson(piece.name, wanted.lessons)) for piece in pieces]
    own = {p.item.label for p, name in named if name == wanted.lesson and p.kind in WORK}
    others = {*wanted.lessons} - {wanted.lesson} if own else set[str]()
    # In the same attempt, a folder in which only this lesson ran is kept, whatever its name is.
    beside = [piece for piece, name in named if name in others and piece.item.label in own]
    recorded = recorded_lessons(beside, wanted.lessons)
    ran = grouped((piece.name.parent, each) for piece, found in recorded.items() for each in found)
    kept = {folder for folder, found in ran.items() if {*found} == {wanted.lesson}}
    return {wanted.lesson: [p for p, name in named if name not in others or p.name.parent in kept]}


def row_of(
    owner: Owned, lesson: str, pieces: Collection[Piece], notes: list[Note], wanted: Wanted
) -> tuple[Row, dict[str, Path]]:
    """Return a lesson's row, and the paths of its files by their names in the lesson's folder.

    `notes` are the doubts that are known so far; new ones are added.
    """
    pieces, odd = keep_latest(pieces, owner.items)
    notes += odd
    own = [piece for piece in pieces if piece.kind in WORK and wanted.platform == FOLDERS]
    work = grouped((piece.item.path.name, digest_of(piece.path)) for piece in own)
    if len({*map(frozenset, work.values())}) > 1:  # they are no copies
        notes.append(note_of(FindingCode.FOLDERS_JOINED, "", ", ".join(work)))
    time, odd = submitted(pieces)
    if not pieces:  # nothing could be read, but the platform knows when it was submitted
        time = latest(item.submitted for item in owner.items)
    notes += odd
    if time and moment_of(time) is None:
        notes.append(note_of(FindingCode.TIME_UNREAD, "", time))
        time = ""
    files = named(pieces)
    if not any(kind_of(PurePath(name).name) in WORK for name in files) and not notes:
        others = [str(piece.name) for piece in pieces[:3]]
        what = f"only {', '.join(others)}" if others else "no file"
        notes.append(note_of(FindingCode.NOTHING_FOUND, others[0] if others else "", what))
    is_late = any(item.late for item in [piece.item for piece in pieces] or owner.items)
    row = Row(
        folder=f"{owner.folder}/{lesson or UNKNOWN}",
        students=AND.join(owner.students),
        group=owner.group,
        lesson=lesson,
        submitted=time,
        late="yes" if is_late else "",
        origin=wanted.platform,
    )
    return row, files
