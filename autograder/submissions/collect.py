"""Find what students handed in: folders, archives or bare files, in any of the usual layouts.

    <student>/<lesson>/…            also below nbgrader's submitted/
    <student>.zip or .tar.gz        with the lesson's folder or its files inside
    <student>/<anything>.zip        as learning platforms hand them out
    submission/ beside submission_metadata.json         Gradescope
    output_123.out answers.txt      bare files: one student, one lesson

Nothing is followed out of the folder and nothing but regular files is opened.
"""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import click

from autograder.records import Where
from autograder.safe_text import printable
from autograder.submissions import archives
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
    answers: dict[Path, str] = field(default_factory=dict)  # one for each place that has them
    handed_in: str | None = None  # time, as nbgrader or Gradescope noted it
    findings: list[Finding] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # some files of kinds that are not opened


def find_students(
    places: Iterable[Path], name: str | None = None, lesson: str | None = None
) -> list[Student]:
    """The students below the named places, sorted by name."""
    places = list(places)
    files = [p for p in places if p.is_file() and not is_package(p.name)]
    found: dict[str, list[Path]] = {}
    if files:
        found[one_spelling(name or "submission")] = files
    for place in places:
        if place in files:
            continue
        for student, inner in _students_in(place, name):
            found.setdefault(one_spelling(student), []).append(inner)
    only = places[0] if len(places) == 1 else None  # a lesson's own folder says its lesson
    if lesson is None and only is not None and found and [only] in found.values():
        lesson = lesson_of(only.resolve().name)
    return [Student(key, tuple(sorted(found[key])), lesson) for key in sorted(found)]


def _students_in(place: Path, name: str | None) -> Iterator[tuple[str, Path]]:
    if not place.exists():
        raise click.UsageError(f"{place} does not exist. Name the folder with the submissions.")
    if is_package(place.name) and place.is_file():
        yield name or archives.stem(place.name), place
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
    packed = [e for e in visible if is_package(e.name) and not e.is_dir(follow_symlinks=False)]
    lessons = [e for e in folders if LESSON.match(e.name)]
    loose = [e for e in visible if e.is_file(follow_symlinks=False) and OUTPUT.match(e.name)]
    opened = any(archives.is_archive(e.name) for e in packed)
    own_lesson = loose and (LESSON.match(place.resolve().name) or not (folders or opened))
    if own_lesson or (lessons and len(lessons) == len(folders)):
        yield name or place.resolve().name, place  # one student's own folder
        return
    for entry in folders:
        yield entry.name, Path(entry.path)
    for entry in packed:
        yield archives.stem(entry.name), Path(entry.path)


def one_spelling(name: str) -> str:
    """macOS writes é as e and an accent; rosters and other systems write one letter."""
    return unicodedata.normalize("NFC", name)


def is_package(name: str) -> bool:
    return archives.is_archive(name) or archives.is_not_read(name)


def is_clutter(name: str) -> bool:
    """What systems and Python leave behind: nobody hands it in on purpose."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")


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
        folders = folders or [Folder(student.lesson)]
        for folder in folders:
            folder.others = collector.others
        yield folders


class _Collector:
    """Walks one student's places and sorts what it finds into lessons."""

    def __init__(self, student: Student, stack: ExitStack) -> None:
        self.student = student
        self.stack = stack  # removes what was unpacked
        self.folders: dict[str | None, Folder] = {}
        self.entries = 0
        self.others: list[str] = []

    def add(self, place: Path) -> None:
        if place.is_dir():
            self.walk(place, PurePath(), None)
        elif archives.is_archive(place.name):
            self.unpack(place, PurePath(place.name), None)
        elif archives.is_not_read(place.name):
            self.not_read(PurePath(place.name), None)
        else:
            self.file(place, PurePath(place.name), None)

    def folder(self, lesson: str | None) -> Folder:
        lesson = lesson or self.student.lesson
        return self.folders.setdefault(lesson, Folder(lesson))

    def note(self, lesson: str | None, finding: Finding) -> None:
        if len(self.folder(lesson).findings) < 20:
            self.folder(lesson).findings.append(finding)

    def odd(self, lesson: str | None, name: PurePath, found: str, try_: str) -> None:
        where = (Where(printable(name), 0),)
        title, expected = "Something in the submission was left out", "outputs and answers.txt"
        self.note(lesson, Finding("collect", title, expected, found, where, try_, look=True))

    def not_read(self, name: PurePath, lesson: str | None) -> None:
        self.note(lesson or lesson_of(archives.stem(name.name)), archives.not_read(name))

    def is_taken(self, name: PurePath) -> bool:
        """Packages within packages too: they are not opened, but walk() has to see and say it."""
        taken = is_wanted(name.name) or is_package(name.name)
        if not taken and not is_clutter(name.name) and len(self.others) < 3:
            self.others.append(printable(name, 80))
        return taken

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
            elif archives.is_not_read(entry.name):
                self.not_read(inner, lesson)
            else:
                self.file(Path(entry.path), inner, lesson)

    def unpack(self, archive: Path, name: PurePath, lesson: str | None) -> None:
        target = Path(self.stack.enter_context(TemporaryDirectory(prefix="autograder-")))
        lesson = lesson or lesson_of(archives.stem(archive.name))
        shown = printable(name)
        findings = archives.unpack(archive, shown, target, lambda path: self.is_taken(name / path))
        if findings:
            self.folder(lesson).findings += findings
        self.walk(target, PurePath(name), lesson, unpacked=True)

    def file(self, path: Path, name: PurePath, lesson: str | None) -> None:
        if path.name.lower() == ANSWERS:
            self.folder(lesson).answers[path] = printable(name)
        elif path.name.lower() == "timestamp.txt":
            self.folder(lesson).handed_in = first_line(path)
        elif self.is_taken(name) and stat.S_ISREG(path.lstat().st_mode):
            self.folder(lesson).outputs[path] = printable(name)


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
