"""What lies in a student's places, sorted into lessons.

Nothing is followed out of the folder and nothing but regular files is opened.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions import archives
from autograder.submissions.claims import Said
from autograder.submissions.file_kinds import (
    HANDED_IN,
    REPORT,
    is_answers,
    is_clutter,
    is_package,
    is_unread_answers,
    is_wanted,
)
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.programs import is_program
from autograder.submissions.regular_files import open_regular, unreadable, why
from autograder.submissions.students import Student
from autograder.verdict import PACKED, Finding

MAX_ENTRIES = 10_000
MAX_DEPTH = 8
MOST_FINDINGS = 20


class Origin(NamedTuple):
    """Where a file came from."""

    place: Path  # of the student's
    said: Said  # of the place
    packed_at: float = 0.0  # time of the archive that it lay in, which a copy of it may not keep


NOWHERE = Origin(Path(), Said())


@dataclass(slots=True)
class Folder:
    """What one student handed in for one lesson (None: the outputs have to say which)."""

    lesson: str | None
    outputs: dict[Path, str] = field(default_factory=dict)  # path -> name as shown
    answers: dict[Path, str] = field(default_factory=dict)  # one for each place that has them
    reports: dict[Path, str] = field(default_factory=dict)
    programs: dict[Path, str] = field(default_factory=dict)
    handed_in_by: str = ""  # a partner, of whose account the jobs are
    handed_in: str | None = None  # time, as nbgrader or Gradescope noted it
    times: dict[Path, str | None] = field(default_factory=dict)  # by the files that say one
    stamps: dict[Path, PurePath] = field(default_factory=dict)  # these files, and their names
    findings: list[Finding] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # some files of kinds that are not opened
    named: frozenset[str] = frozenset()  # lessons that folders and archives without work are named
    origins: dict[Path, Origin] = field(default_factory=dict)  # of outputs, answers, reports, times


@dataclass(slots=True)
class Collected:
    """What was found of one student so far."""

    lesson: str | None  # of files that lie in no lesson's folder
    temporary: ExitStack  # removes what was unpacked
    packages: bool = True  # as Student has it
    folders: dict[str | None, Folder] = field(default_factory=dict)  # by lesson
    programs: dict[str | None, dict[Path, str]] = field(default_factory=dict)  # by lesson
    of_programs: dict[Path, Origin] = field(default_factory=dict)
    entries: int = 0  # files and folders that were looked at
    others: list[str] = field(default_factory=list)  # some files of kinds that are not opened
    named: set[str] = field(default_factory=set)  # lessons, by names of folders and archives
    origin: Origin = NOWHERE  # of what is taken now

    def folder(self, lesson: str | None) -> Folder:
        lesson = lesson or self.lesson
        return self.folders.setdefault(lesson, Folder(lesson))

    def note(self, lesson: str | None, finding: Finding) -> None:
        findings = self.folder(lesson).findings
        if len(findings) < MOST_FINDINGS:
            findings.append(finding)

    def hear_of(self, lesson: str | None) -> None:
        if lesson:
            self.named.add(lesson)

    def odd(
        self, lesson: str | None, name: PurePath, what: str, try_: str, kind: str = "collect"
    ) -> None:
        where, expected = (Where(shortened(name), 0),), "outputs and answers.txt"
        title, code = "Something in the submission was left out", FindingCode.LEFT_OUT
        finding = Finding(kind, title, expected, what, where, try_, look=True, code=code)
        self.note(lesson, finding)


@contextmanager
def opened(student: Student) -> Iterator[list[Folder]]:
    """The student's lessons; archives lie unpacked in temporary folders while this is open."""
    with ExitStack() as stack:
        collected = Collected(student.lesson, stack, student.packages)
        for place in student.places:
            said = student.said.get(place, Said())
            collected.origin = Origin(place, said)
            collected.hear_of(said.lesson)
            try:
                if place.is_dir():
                    walk(collected, place, PurePath(said.label), None)
                else:
                    take(collected, place, PurePath(said.label, said.called or place.name), None)
            except OSError as error:
                collected.note(None, unreadable(shortened(place.name), why(error)))
        folders = [collected.folders[key] for key in sorted(collected.folders, key=str)]
        folders = folders or [Folder(student.lesson, named=frozenset(collected.named))]
        for folder in folders:
            folder.others = collected.others
            loose = collected.programs.get(None, {}) if len(folders) == 1 else {}
            folder.programs = collected.programs.get(folder.lesson, {}) | loose
            folder.origins |= {path: collected.of_programs[path] for path in folder.programs}
        yield folders


def walk(
    collected: Collected, place: Path, name: PurePath, lesson: str | None, unpacked: bool = False
) -> None:
    """Take what lies in a folder, and in those within it; `name` is the folder's as shown."""
    if len(name.parts) > MAX_DEPTH:
        collected.odd(lesson, name, "folders within folders, too deep", "hand in a flat folder")
        return
    for entry in entries_of(collected, place, name, lesson):
        inner = name / entry.name
        if is_clutter(entry.name) or (is_package(entry.name) and not collected.packages):
            continue
        try:
            if entry.is_symlink():
                what = "a link, which is not followed"
                collected.odd(lesson, inner, what, "hand in the file itself")
            elif entry.is_dir(follow_symlinks=False):
                below = lesson or lesson_of(entry.name)
                collected.hear_of(below)
                walk(collected, Path(entry.path), inner, below, unpacked)
            elif not entry.is_file(follow_symlinks=False):
                collected.odd(lesson, inner, "a pipe, socket or device", "hand in regular files")
            else:
                take(collected, Path(entry.path), inner, lesson, unpacked)
        except OSError as error:
            collected.note(lesson, unreadable(shortened(inner), why(error)))


def entries_of(
    collected: Collected, place: Path, name: PurePath, lesson: str | None
) -> list[os.DirEntry[str]]:
    """What lies in a folder, sorted by name, as far as there is not too much of it."""
    entries = []
    try:
        with os.scandir(place) as scan:
            for entry in scan:
                collected.entries += 1
                if collected.entries > MAX_ENTRIES:
                    what = f"more than {MAX_ENTRIES:,} files; the rest was not looked at"
                    collected.odd(lesson, name, what, "hand in outputs and answers.txt only")
                    break
                entries.append(entry)
    except OSError as error:
        what = f"cannot be opened: {error.strerror}"
        collected.odd(lesson, name, what, "check its permissions")
        return []
    return sorted(entries, key=lambda entry: entry.name)


def take(
    collected: Collected, path: Path, name: PurePath, lesson: str | None, unpacked: bool = False
) -> None:
    """A file, into its lesson; an archive is opened, but not one within another."""
    called = name.name  # by the student; a platform may have put something before it
    if archives.is_archive(called):
        if unpacked:
            inner = shortened(called, 80)
            outer = shortened(next(filter(is_package, reversed(name.parts[:-1])), ""), 80)
            what = f"{outer} holds another archive, {inner}, which is not opened"
            try_ = f"`{inner}` lies packed in {outer}: unpack it, and pack only once"
            collected.odd(lesson, name, what, try_, PACKED)
        else:
            unpack(collected, path, name, lesson)
    elif archives.is_not_read(called):
        collected.note(lesson or lesson_of(archives.stem(called)), archives.not_read(name))
    elif is_answers(called):
        keep(collected, collected.folder(lesson).answers, path, name, lesson)
    elif called.lower() == REPORT:
        keep(collected, collected.folder(lesson).reports, path, name, lesson)
    elif called.lower() == HANDED_IN:
        folder = collected.folder(lesson)
        folder.stamps[path], folder.origins[path] = name, collected.origin
        # Also of a file that cannot be read: it is the one that would count.
        folder.times[path] = None
        folder.times[path] = first_line(path)
    elif is_unread_answers(called):
        collected.note(lesson, unread_answers(name))
    elif is_taken(collected, name) and stat.S_ISREG(path.lstat().st_mode):
        keep(collected, collected.folder(lesson).outputs, path, name, lesson)
    elif is_program(called):  # alone they make no hand-in
        programs = collected.programs.setdefault(lesson or collected.lesson, {})
        programs[path] = shortened(name)
        collected.of_programs[path] = collected.origin


def keep(
    collected: Collected, files: dict[Path, str], path: Path, name: PurePath, lesson: str | None
) -> None:
    files[path] = shortened(name)
    collected.folder(lesson).origins[path] = collected.origin


def unpack(collected: Collected, archive: Path, name: PurePath, lesson: str | None) -> None:
    target = Path(collected.temporary.enter_context(TemporaryDirectory(prefix="autograder-")))
    lesson = lesson or lesson_of(archives.stem(name.name))
    collected.hear_of(lesson)
    findings = archives.unpack(
        archive,
        shortened(name),
        target,
        lambda path: (
            is_taken(collected, name / path)
            or is_program(path.name)
            or is_unread_answers(path.name)
        ),
    )
    if findings:
        collected.folder(lesson).findings += findings
    outside = collected.origin
    collected.origin = outside._replace(packed_at=archive.lstat().st_mtime)
    walk(collected, target, name, lesson, unpacked=True)
    collected.origin = outside


def unread_answers(name: PurePath) -> Finding:
    return Finding(
        "answers",
        "Answers lie in a file that is not read",
        code=FindingCode.ANSWERS_NOT_TEXT,
        expected="answers.txt, plain text",
        found=shortened(name),
        where=(Where(shortened(name), 0),),
        try_="save it as plain text under the name answers.txt, and hand that in",
        look=True,
    )


def is_taken(collected: Collected, name: PurePath) -> bool:
    """Packages within packages too: they are not opened, but walk() has to see and say it."""
    taken = is_wanted(name.name) or is_package(name.name)
    shown = shortened(name, 80)
    if not taken and not is_clutter(name.name) and len(collected.others) < 3:
        collected.others += [shown] if shown not in collected.others else []
    return taken


def first_line(path: Path) -> str | None:
    with open_regular(path) as file:
        return shortened(file.read(200).decode("utf-8", "replace").split("\n")[0]) or None
