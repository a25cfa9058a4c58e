"""Find what students handed in: folders, archives or bare files, in any of the usual layouts.

    <student>/<lesson>/…            also below nbgrader's submitted/
    <student>.zip or .tar.gz        with the lesson's folder or its files inside
    <student>/<anything>.zip        as learning platforms hand them out
    submission/ beside submission_metadata.json         Gradescope
    output_123.out answers.txt      bare files: one student, one lesson

Nothing is followed out of the folder and nothing but regular files is opened.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import click

from autograder import archives
from autograder.harmless import printable
from autograder.records import Where
from autograder.verdict import Finding

LESSON = re.compile(r"(?:lesson[-_ ]?)?(\d\d)(?:[-_. ].*)?\Z", re.IGNORECASE)
OUTPUT = re.compile(r".*(\.(out|err|er|log|txt|ou|stdout|stderr|output)|\.[oe]\d+|\.[oe])\Z", re.I)
ANSWERS = "answers.txt"
# Written by people or tools beside the outputs, not by jobs.
NO_OUTPUT = {"readme.txt", "requirements.txt", "timestamp.txt", "license.txt", "submission.json"}
MAX_ENTRIES = 10_000
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Student:
    """One student's place in the submissions; looked into only when graded."""

    name: str
    places: tuple[Path, ...]  # folders, archives, or the bare files themselves
    lesson: str | None = None  # when the files lie without a lesson's folder


@dataclass(slots=True)
class Folder:
    """What one student handed in for one lesson (None: the outputs have to say which)."""

    lesson: str | None
    outputs: dict[Path, str] = field(default_factory=dict)  # path -> name as shown
    answers: tuple[Path, str] | None = None
    handed_in: str | None = None  # time, as nbgrader or Gradescope noted it
    findings: list[Finding] = field(default_factory=list)


def find_students(
    places: Iterable[Path], name: str | None = None, lesson: str | None = None
) -> list[Student]:
    """The students below the named places, sorted by name."""
    places = list(places)
    files = [p for p in places if p.is_file() and not archives.is_archive(p.name)]
    found: dict[str, list[Path]] = {}
    if files:
        found[name or "submission"] = files
    for place in places:
        if place in files:
            continue
        for student, inner in _students_in(place, name):
            found.setdefault(student, []).append(inner)
    only = places[0] if len(places) == 1 else None  # a lesson's own folder says its lesson
    if lesson is None and only is not None and found and [only] in found.values():
        lesson = lesson_of(only.resolve().name)
    return [Student(key, tuple(sorted(found[key])), lesson) for key in sorted(found)]


def _students_in(place: Path, name: str | None) -> Iterator[tuple[str, Path]]:
    if not place.exists():
        raise click.UsageError(f"{place} does not exist. Name the folder with the submissions.")
    if archives.is_archive(place.name) and place.is_file():
        yield name or archive_stem(place.name), place
        return
    if (place / "submitted").is_dir():
        place = place / "submitted"
    gradescope = place.parent / "submission_metadata.json"
    if place.name == "submission" and gradescope.is_file():
        yield name or gradescope_student(gradescope), place
        return
    try:
        entries = sorted(os.scandir(place), key=lambda e: e.name)
    except OSError as error:
        raise click.UsageError(f"{place} cannot be read: {error.strerror}") from None
    visible = [e for e in entries if not is_clutter(e.name)]
    folders = [e for e in visible if e.is_dir(follow_symlinks=False)]
    packed = [e for e in visible if archives.is_archive(e.name)]
    lessons = [e for e in folders if LESSON.match(e.name)]
    loose = [e for e in visible if e.is_file(follow_symlinks=False) and OUTPUT.match(e.name)]
    own_lesson = loose and (LESSON.match(place.resolve().name) or not (folders or packed))
    if own_lesson or (lessons and len(lessons) == len(folders)):
        yield name or place.resolve().name, place  # one student's own folder
        return
    for entry in folders:
        yield entry.name, Path(entry.path)
    for entry in packed:
        yield archive_stem(entry.name), Path(entry.path)


def is_clutter(name: str) -> bool:
    """What systems and Python leave behind: nobody hands it in on purpose."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")


def archive_stem(name: str) -> str:
    suffix = max((s for s in archives.SUFFIXES if name.lower().endswith(s)), key=len)
    return name[: -len(suffix)] or name


def gradescope_student(metadata: Path) -> str:
    try:
        users = json.loads(metadata.read_bytes())["users"]
        return str(users[0].get("email") or users[0].get("name") or users[0]["id"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "submission"


@contextmanager
def opened(student: Student) -> Iterator[list[Folder]]:
    """The student's lessons; archives lie unpacked in temporary folders while this is open."""
    with ExitStack() as stack:
        collector = _Collector(student, stack)
        for place in student.places:
            collector.add(place)
        folders = [collector.folders[key] for key in sorted(collector.folders, key=str)]
        for folder in folders:
            count_copies_once(folder)
            shorten_names(folder)
        yield folders


def count_copies_once(folder: Folder) -> None:
    """A file in the folder and again in its package, which `lessons submit` leaves there."""
    by_name: dict[str, list[Path]] = {}
    for path in sorted(folder.outputs, key=lambda path: len(PurePath(folder.outputs[path]).parts)):
        by_name.setdefault(path.name, []).append(path)
    for same_name in by_name.values():
        seen: set[bytes] = set()
        for path in same_name if len(same_name) > 1 else ():
            try:
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "blake2b").digest()
            except OSError:
                continue  # whoever reads it will say so
            if content in seen:
                del folder.outputs[path]
            seen.add(content)


def shorten_names(folder: Folder) -> None:
    """`you.zip/02_serial/a.out` is `a.out`, when all of a lesson's files lie in one place."""
    names = [*folder.outputs.values(), *(folder.answers[1:] if folder.answers else ())]
    places = {PurePath(name).parent for name in names}
    if len(places) == 1:
        folder.outputs = {path: PurePath(name).name for path, name in folder.outputs.items()}
        if folder.answers:
            folder.answers = (folder.answers[0], PurePath(folder.answers[1]).name)


class _Collector:
    """Walks one student's places and sorts what it finds into lessons."""

    def __init__(self, student: Student, stack: ExitStack) -> None:
        self.student = student
        self.stack = stack  # removes what was unpacked
        self.folders: dict[str | None, Folder] = {}
        self.entries = 0

    def add(self, place: Path) -> None:
        if place.is_dir():
            self.walk(place, PurePath(), None)
        elif archives.is_archive(place.name):
            self.unpack(place, PurePath(place.name), None)
        else:
            self.file(place, PurePath(place.name), None)

    def folder(self, lesson: str | None) -> Folder:
        lesson = lesson or self.student.lesson
        return self.folders.setdefault(lesson, Folder(lesson))

    def odd(self, lesson: str | None, name: PurePath, found: str, try_: str) -> None:
        folder = self.folder(lesson)
        if len(folder.findings) < 20:
            where = (Where(printable(name), 0),)
            title = "Something in the submission was left out"
            folder.findings.append(
                Finding("collect", title, "outputs and answers.txt", found, where, try_, look=True)
            )

    def walk(self, place: Path, name: PurePath, lesson: str | None, unpacked: bool = False) -> None:
        if len(name.parts) > MAX_DEPTH:
            self.odd(lesson, name, "folders within folders, too deep", "hand in a flat folder")
            return
        try:
            with os.scandir(place) as scan:
                entries = []
                for entry in scan:
                    self.entries += 1
                    if self.entries > MAX_ENTRIES:
                        found = f"more than {MAX_ENTRIES:,} files; the rest was not looked at"
                        self.odd(lesson, name, found, "hand in outputs and answers.txt only")
                        break
                    entries.append(entry)
        except OSError as error:
            self.odd(lesson, name, f"cannot be opened: {error.strerror}", "check its permissions")
            return
        for entry in sorted(entries, key=lambda e: e.name):
            inner = name / entry.name
            if is_clutter(entry.name):
                continue
            if entry.is_symlink():
                self.odd(lesson, inner, "a link, which is not followed", "hand in the file itself")
            elif entry.is_dir(follow_symlinks=False):
                self.walk(Path(entry.path), inner, lesson or lesson_of(entry.name), unpacked)
            elif not entry.is_file(follow_symlinks=False):
                self.odd(lesson, inner, "a pipe, socket or device", "hand in regular files")
            elif archives.is_archive(entry.name):
                if unpacked:
                    found = "an archive in an archive, which is not opened"
                    self.odd(lesson, inner, found, "unpack it, and pack only once")
                else:
                    self.unpack(Path(entry.path), inner, lesson)
            else:
                self.file(Path(entry.path), inner, lesson)

    def unpack(self, archive: Path, name: PurePath, lesson: str | None) -> None:
        target = Path(self.stack.enter_context(TemporaryDirectory(prefix="autograder-")))
        lesson = lesson or lesson_of(archive_stem(archive.name))
        shown = printable(name)
        findings = archives.unpack(
            archive,
            shown,
            target,
            # An archive within is not opened, but walk() has to see it, to say so.
            lambda path: is_wanted(path.name) or archives.is_archive(path.name),
        )
        if findings:
            self.folder(lesson).findings += findings
        self.walk(target, PurePath(name), lesson, unpacked=True)

    def file(self, path: Path, name: PurePath, lesson: str | None) -> None:
        shown = PurePath(*name.parts[1:]) if lesson_of(name.parts[0]) and lesson else name
        if path.name.lower() == ANSWERS:
            self.folder(lesson).answers = (path, printable(shown))
        elif path.name.lower() == "timestamp.txt":
            self.folder(lesson).handed_in = first_line(path)
        elif is_wanted(path.name) and stat.S_ISREG(path.lstat().st_mode):
            self.folder(lesson).outputs[path] = printable(shown)


def lesson_of(name: str) -> str | None:
    match = LESSON.match(name)
    return match[1] if match else None


def is_wanted(name: str) -> bool:
    """Outputs of jobs and answers; not programs, notebooks, pictures or checkpoints."""
    lower = name.lower()
    if lower in (ANSWERS, "timestamp.txt"):
        return True
    return lower not in NO_OUTPUT and (bool(OUTPUT.match(name)) or "." not in name)


def first_line(path: Path) -> str | None:
    with path.open("rb") as file:
        return printable(file.read(200).decode("utf-8", "replace").split("\n")[0]) or None
