"""Assign files outside lesson folders to lessons.

The record names the lesson of an output. An output without a record goes with the outputs beside
it, answers with the questions that they answer. Last, a folder's name may say it (`hw07`).
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from autograder.codes import FindingCode
from autograder.reading import lines
from autograder.reading.lesson_runs import lesson_named, read_runs
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions import archives, output_names
from autograder.submissions.answers import read_answers
from autograder.submissions.folders import Folder
from autograder.submissions.lesson_names import claims_lesson, hinted_lesson
from autograder.submissions.programs import read_program
from autograder.submissions.regular_files import open_regular
from autograder.verdict import Finding

HEADER, NEAR = b'"header"', 300  # the second: bytes after it in which the lesson is searched
LESSON = re.compile(rb'"lesson": ?"(\w{1,20})"')
RAN = re.compile(rb'"files":\{([^{}]{0,20000})\}')
NUMBER = re.compile(r"\d\d\Z")

# A download and a folder in it. Files of another download are not beside it.
Spot = tuple[str, PurePath]
Ids = Mapping[str, Collection[str]]  # lesson -> ids of its questions


def one_folder_a_lesson(folders: Sequence[Folder], ids: Ids | None = None) -> list[Folder]:
    """Return one folder per lesson, in the order of lessons.

    Files without a lesson stay separate. A finding about a file that could not be opened goes to
    the first lesson.
    """
    loose = next((folder for folder in folders if folder.lesson is None), None)
    if loose is None:
        return list(folders)
    rest = {folder.lesson or "": folder for folder in folders if folder is not loose}
    sorted_out = Sorted(loose, rest)
    share_out(sorted_out, ids or {})
    if loose.outputs or loose.answers or loose.reports:
        home = rest.get(lesson_named(read_runs(loose)) or "") if loose.outputs and rest else None
        if not loose.outputs and rest:
            home = next(iter(rest.values()))
        if home is None:
            return [*in_order(rest), loose]
    elif not rest:
        return [loose]
    else:
        home = sorted_out.first or next(iter(rest.values()))
    move_rest(loose, home)
    return in_order(rest)


def in_order(folders: Mapping[str, Folder]) -> list[Folder]:
    return [folders[lesson] for lesson in sorted(folders)]


def move_rest(loose: Folder, home: Folder) -> None:
    for name in ("outputs", "answers", "reports", "programs", "origins"):
        setattr(home, name, getattr(home, name) | getattr(loose, name))
    if not home.times:
        home.times, home.stamps = loose.times, loose.stamps
    home.findings += loose.findings
    home.others = home.others or loose.others


@dataclass(slots=True)
class Sorted:
    """A student's lessons while loose files are assigned to them."""

    loose: Folder
    folders: dict[str, Folder]
    by_place: dict[Spot, set[str]] = field(default_factory=dict)  # lessons of the outputs in it
    first: Folder | None = None  # the first one that got a file

    def give(self, kind: str, path: Path, lesson: str) -> None:
        folder = self.folders.setdefault(lesson, Folder(lesson, others=self.loose.others))
        self.first = self.first or folder
        getattr(folder, kind)[path] = getattr(self.loose, kind)[path]
        if path in self.loose.origins:
            folder.origins[path] = self.loose.origins[path]

    def near(self, path: Path, name: str, most: int = 100) -> set[str]:
        """Return the lessons of the nearest outputs, beside a file or above; none if too many."""
        spots = spots_of(self.loose, path, name)
        found = next((self.by_place[spot] for spot in spots if spot in self.by_place), set())
        return found if len(found) <= most else set()


def spots_of(loose: Folder, path: Path, name: str) -> list[Spot]:
    """Return the folders of a file, from the inside out."""
    origin = loose.origins.get(path)
    download = origin.said.lies_in if origin else ""
    return [(download, place) for place in PurePath(name).parents]


def share_out(work: Sorted, ids: Ids) -> None:
    loose = work.loose
    of_outputs = lessons_of_outputs(loose, ids)
    for path, lessons in of_outputs.items():
        for spot in spots_of(loose, path, loose.outputs[path]):
            work.by_place.setdefault(spot, set()).update(lessons)
    for path, name in list(loose.outputs.items()):
        hinted = {one for one in hints(loose, path, name) if known([one], ids)}
        settle(work, "outputs", path, of_outputs.get(path) or work.near(path, name, 1) or hinted)
        contradiction(work, path, name, of_outputs.get(path, set()), ids)
    for path, name in list(loose.answers.items()):
        settle(work, "answers", path, of_answers(work, path, name, ids))
    for path, name in list(loose.reports.items()):
        settle(work, "reports", path, work.near(path, name) or hints(loose, path, name))
    if of_outputs:
        share_programs(work, of_outputs)
        share_times(work)


def settle(work: Sorted, kind: str, path: Path, lessons: Iterable[str]) -> None:
    given = sorted(lessons)
    for lesson in given:
        work.give(kind, path, lesson)
    if given:
        del getattr(work.loose, kind)[path]


def known(lessons: Iterable[str], ids: Ids) -> bool:
    return all(lesson in ids if ids else NUMBER.match(lesson) for lesson in lessons)


# --- which lesson -----------------------------------------------------------------------------


def lessons_of_outputs(loose: Folder, ids: Ids) -> dict[Path, set[str]]:
    """Return the lessons in the outputs' records. An error output goes with its job's output."""
    jobs: dict[str, list[Path]] = {}
    for path, name in loose.outputs.items():
        parts = output_names.read(PurePath(name).name)
        jobs.setdefault(f"{path.parent}/{parts.shared}", []).append(path)
    found: dict[Path, set[str]] = {}
    for paths in jobs.values():
        named = {lesson for path in paths for lesson in lessons_recorded(path)}
        if named and known(named, ids):
            found |= dict.fromkeys(paths, named)
    return found


def lessons_recorded(path: Path) -> set[str]:
    found: set[str] = set()
    try:
        with open_regular(path) as file:
            for block in lines.blocks(file):
                at = block.data.find(HEADER)
                while at >= 0:
                    end = block.data.find(b"\n", at)
                    end = len(block.data) if end < 0 else end
                    # A terminal may have broken the line.
                    header = block.data[at : max(end, at + NEAR)].replace(b"\n", b"")
                    if match := LESSON.search(header):
                        found.add(match[1].decode("utf-8", "replace"))
                    at = block.data.find(HEADER, end)
    except OSError:
        pass  # reported when the file is read
    return found


def hints(loose: Folder, path: Path, name: str) -> set[str]:
    """Return the names of a file's folders, the nearest first, or else of its platform."""
    for part in reversed(PurePath(name).parts[:-1]):
        if hint := hinted_lesson(archives.stem(part)):
            return {hint}
    origin = loose.origins.get(path)
    return {origin.said.lesson} if origin and origin.said.lesson else set()


def of_answers(work: Sorted, path: Path, name: str, ids: Ids) -> set[str]:
    """Return the lessons whose questions are answered; of several, those with outputs nearby."""
    near = work.near(path, name)
    if len(near) == 1:
        return near
    written, _ = read_answers(path, name, {id_ for one in ids.values() for id_ in one})
    mine = {lesson: written.keys() & {*questions} for lesson, questions in ids.items()}
    # An id may be asked in several lessons. A lesson whose answered ids are all in another one,
    # which has more, is not meant.
    asked = {one for one, some in mine.items() if some and not any(some < m for m in mine.values())}
    hinted = {one for one in hints(work.loose, path, name) if one in ids}
    if near:
        return asked & near or asked or near
    if len(asked) > 1:
        asked = asked & work.folders.keys() or asked
    return hinted & asked or asked or hinted


def contradiction(work: Sorted, path: Path, name: str, lessons: set[str], ids: Ids) -> None:
    """Report a folder whose name differs from the record, which counts.

    Homework numbers may be a course's own, so they are not reported.
    """
    folders = PurePath(name).parts[:-1]
    for part in folders:
        hint = hinted_lesson(archives.stem(part))
        if not hint or not lessons or hint in lessons or hint not in ids:
            continue
        mine = work.folders[min(lessons)]
        code = FindingCode.FOLDER_OF_OTHER_LESSON
        if any(finding.code == code for finding in mine.findings):
            return
        mine.findings.append(
            Finding(
                "collect",
                "A folder is called after another lesson than its outputs are of",
                code=code,
                expected=f"outputs of lesson {hint} in {shortened(part, 60)}",
                found=f"outputs of lesson {', '.join(sorted(lessons))}, which decide",
                where=(Where(name, 0),),
                try_="rename the folder, or submit the outputs of that lesson",
                look=claims_lesson(part),
            )
        )


def share_programs(work: Sorted, of_outputs: Mapping[Path, set[str]]) -> None:
    """Assign programs to the outputs near them.

    At the top of several lessons, a program goes to those that ran one with its name, or better,
    with its text.
    """
    for path, name in list(work.loose.programs.items()):
        lessons = work.near(path, name) or set(work.folders)
        if len(lessons) > 1:
            program = read_program(path, name)
            files = {one: ran_in(of_outputs, one) for one in lessons}
            text = (program.hash or "?").encode()
            called = PurePath(name).name.encode()
            exact = {one for one, told in files.items() if text in told}
            lessons = exact or {one for one, told in files.items() if called in told} or lessons
        for lesson in lessons & work.folders.keys():
            work.folders[lesson].programs.setdefault(path, name)
            work.loose.programs.pop(path, None)


def share_times(work: Sorted) -> None:
    """Assign a file with a submission time to the outputs near it."""
    for path, name in list(work.loose.stamps.items()):
        for lesson in work.near(path, str(name)):
            folder = work.folders[lesson]
            folder.times[path], folder.stamps[path] = work.loose.times[path], name
            folder.origins[path] = work.loose.origins[path]


def ran_in(of_outputs: Mapping[Path, set[str]], lesson: str) -> bytes:
    """Return the names and hashes of the programs in a lesson's records."""
    told = b""
    for path, lessons in of_outputs.items():
        if lesson in lessons:
            try:
                with open_regular(path) as file:
                    told += b" ".join(RAN.findall(file.read(1 << 20)))
            except OSError:
                continue
    return told
