"""Find out which lesson each file belongs to.

A folder that has a lesson's name decides first, then the run record in an output. A file without a
record belongs to the lesson of the outputs beside it, and answers belong to the lesson of their
questions. As a last resort, a number in a folder's name (`hw07`) serves as a hint.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from autograder.codes import FindingCode
from autograder.collect.download import Piece
from autograder.reading import lines
from autograder.safe_text import shortened
from autograder.submissions import output_names
from autograder.submissions.answers import read_answers
from autograder.submissions.doubts import Doubt
from autograder.submissions.kinds import Kind, stem
from autograder.submissions.lesson_names import (
    claims_lesson,
    folder_lesson,
    hinted_lesson,
    lesson_of,
)
from autograder.submissions.regular_files import open_regular

HEADER = b'"header"'
# The lesson is at most 300 bytes after the word.
LESSON = re.compile(rb'"header".{0,300}?"lesson": ?"([\w-]{1,40})"')

# A download and a folder in it. Files in different downloads are never beside each other.
Spot = tuple[str, PurePath]
Ids = Mapping[str, Collection[str]]  # lesson -> ids of its questions
Lessons = dict[str, list[Piece]]  # "": unknown lesson


def named_lesson(name: PurePath, ids: Ids) -> str:
    """Return the lesson that a folder or archive containing the file is named after."""
    parts = [*name.parts[:-1], name.name if stem(name.name) != name.name else ""]
    found = (folder_lesson(stem(part), ids) for part in parts)
    return next(filter(None, found), "")


def sort_out(pieces: Sequence[Piece], ids: Ids) -> tuple[Lessons, dict[str, list[Doubt]]]:
    """Return the files by lesson, and the doubts by the lesson that they concern.

    A file may belong to several lessons.
    """
    work = Sorted(ids)
    loose = []
    for piece in pieces:
        if lesson := named_lesson(piece.name, ids):
            work.give(piece, [lesson])
        else:
            loose.append(piece)
    of_outputs = recorded_lessons([one for one in loose if one.kind == Kind.OUTPUT], ids)
    for piece, recorded in of_outputs.items():
        for spot in spots_of(piece):
            work.by_spot.setdefault(spot, set()).update(recorded)
    order = (Kind.OUTPUT, Kind.ANSWERS, Kind.REPORT, Kind.PROGRAM, Kind.TIMESTAMP, Kind.OTHER)
    for piece in sorted(loose, key=lambda piece: order.index(piece.kind)):
        lessons = lessons_for(piece, work, of_outputs)
        if lessons or piece.kind != Kind.TIMESTAMP:
            work.give(piece, sorted(lessons) or work.home(piece))
    return work.lessons, contradictions(of_outputs, ids)


@dataclass(slots=True)
class Sorted:
    """Files whose lesson is already known."""

    ids: Ids
    lessons: Lessons = field(default_factory=dict)
    by_spot: dict[Spot, set[str]] = field(default_factory=dict)  # from recorded outputs

    def give(self, piece: Piece, lessons: Iterable[str]) -> None:
        for lesson in lessons:
            self.lessons.setdefault(lesson, []).append(piece)

    def home(self, piece: Piece) -> list[str]:
        """Return a file's default lesson: the only one, the first one, or none for an output."""
        known = sorted(filter(None, self.lessons))
        if len(self.ids) == 1:
            return [*self.ids]
        return known[:1] if known and piece.kind != Kind.OUTPUT else [""]

    def without_time(self) -> set[str]:
        """Return the lessons whose folders contain no timestamp file."""
        return {
            lesson
            for lesson, pieces in self.lessons.items()
            if lesson and all(piece.kind != Kind.TIMESTAMP for piece in pieces)
        }

    def near(self, piece: Piece) -> set[str]:
        """Return the lessons of the outputs nearest to a file, beside it or in a folder above."""
        return next((self.by_spot[one] for one in spots_of(piece) if one in self.by_spot), set())


def spots_of(piece: Piece) -> list[Spot]:
    """Return the folders that contain a file, innermost first."""
    return [(piece.item.download, place) for place in piece.name.parents]


def lessons_for(piece: Piece, work: Sorted, of_outputs: Mapping[Piece, set[str]]) -> set[str]:
    match piece.kind:
        case Kind.OUTPUT:
            if found := of_outputs.get(piece):
                return found
            near = work.near(piece)
            return near if len(near) == 1 else hints(piece) & work.ids.keys()
        case Kind.ANSWERS:
            return of_answers(piece, work)
        case Kind.REPORT:
            return work.near(piece) or hints(piece)
        case Kind.PROGRAM:
            return work.near(piece) or set(filter(None, work.lessons))
        case Kind.TIMESTAMP:
            return work.near(piece) or work.without_time()
    return set()


# --- each kind ----------------------------------------------------------------------------------


def recorded_lessons(outputs: Sequence[Piece], ids: Ids) -> dict[Piece, set[str]]:
    """Return the lessons that are named in run records.

    A job's error output gets the same lessons.
    """
    jobs: dict[tuple[str, PurePath, str], list[Piece]] = {}
    for piece in outputs:
        shared = output_names.read(piece.name.name).shared
        jobs.setdefault((piece.item.download, piece.name.parent, shared), []).append(piece)
    found: dict[Piece, set[str]] = {}
    for pieces in jobs.values():
        named = {lesson for piece in pieces for lesson in lessons_recorded(piece.path)}
        if named and named <= ids.keys():
            found |= dict.fromkeys(pieces, named)
    return found


def lessons_recorded(path: Path) -> set[str]:
    found: set[str] = set()
    try:
        with open_regular(path) as file:
            for block in lines.blocks(file):
                if HEADER in block.data:
                    data = block.data.replace(b"\n", b"")  # a terminal may have broken the line
                    found |= {name.decode() for name in LESSON.findall(data)}
    except OSError:
        pass  # the error is reported when the file is read
    return found


def hints(piece: Piece) -> set[str]:
    """Return the lesson number in the nearest folder's name; otherwise the platform's lesson."""
    for part in reversed(piece.name.parts[:-1]):
        if hint := hinted_lesson(stem(part)):
            return {hint}
    lesson = piece.item.lesson
    hint = lesson_of(lesson) or hinted_lesson(lesson) or lesson
    return {hint} if hint else set()


def of_answers(piece: Piece, work: Sorted) -> set[str]:
    """Return the lessons whose questions a file answers, preferring lessons with nearby outputs."""
    ids, near = work.ids, work.near(piece)
    if len(near) == 1:
        return near
    asked = answered_lessons(piece, ids)
    if near:
        return asked & near or asked or near
    if len(asked) > 1:
        asked = asked & work.lessons.keys() or asked
    hinted = hints(piece) & ids.keys()
    return hinted & asked or asked or hinted


def answered_lessons(piece: Piece, ids: Ids) -> set[str]:
    every_id = {id_ for one in ids.values() for id_ in one}
    written, _ = read_answers(piece.path, str(piece.name), every_id)
    mine = {lesson: written.keys() & {*questions} for lesson, questions in ids.items()}
    # Lessons can share ids. A lesson is left out if another one matches the same ids and more.
    return {one for one, some in mine.items() if some and not any(some < m for m in mine.values())}


def overridden(pieces: Sequence[Piece], lesson: str, ids: Ids) -> list[Doubt]:
    """Return a doubt if the records and answers name other lessons but not this one."""
    named = recorded_lessons([one for one in pieces if one.kind == Kind.OUTPUT], ids)
    answers = [one for one in pieces if one.kind == Kind.ANSWERS]
    named |= {one: found for one in answers if (found := answered_lessons(one, ids))}
    lessons = {name for found in named.values() for name in found}
    if not lessons or lesson in lessons:
        return []
    detail = f"of lesson {', '.join(sorted(lessons))}, counted as lesson {lesson}"
    return [Doubt(FindingCode.LESSON_OVERRIDDEN, shortened(next(iter(named)).name), detail)]


def contradictions(of_outputs: Mapping[Piece, set[str]], ids: Ids) -> dict[str, list[Doubt]]:
    """Return a doubt for each file whose folder name and record name different lessons.

    The record counts. A homework number may follow the course's own numbering, so it causes no
    doubt.
    """
    found: dict[str, list[Doubt]] = {}
    for piece, lessons in of_outputs.items():
        for part in piece.name.parts[:-1]:
            hint = hinted_lesson(stem(part))
            if hint in ids and hint not in lessons and claims_lesson(part):
                detail = f"outputs of lesson {', '.join(sorted(lessons))}, and as that they count"
                doubt = Doubt(FindingCode.FOLDER_OF_OTHER_LESSON, shortened(piece.name), detail)
                found.setdefault(min(lessons), []).append(doubt)
    return found
