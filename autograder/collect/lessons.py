"""Find out which lesson each file belongs to.

A folder that has a lesson's name decides first, then the run record in an output. A file without a
record belongs to the lesson of the outputs beside it, and answers belong to the lesson of their
questions. As a last resort, a number in a folder's name (`hw07`) serves as a hint.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
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
# Each kind needs the lessons of the kinds before it.
ORDER = (Kind.OUTPUT, Kind.ANSWERS, Kind.REPORT, Kind.PROGRAM, Kind.TIMESTAMP, Kind.OTHER)

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
    lessons: Lessons = defaultdict(list)
    loose = []
    for piece in pieces:
        if lesson := named_lesson(piece.name, ids):
            lessons[lesson].append(piece)
        else:
            loose.append(piece)
    recorded = recorded_lessons(loose, ids)
    by_spot = defaultdict[Spot, set[str]](set)
    for piece, found in recorded.items():
        for spot in spots_of(piece):
            by_spot[spot] |= found
    for piece in sorted(loose, key=lambda piece: ORDER.index(piece.kind)):
        near = next((by_spot[spot] for spot in spots_of(piece) if spot in by_spot), set[str]())
        found = recorded.get(piece) or lessons_for(piece, near, lessons, ids)
        if found or piece.kind != Kind.TIMESTAMP:
            for lesson in sorted(found) or [default_lesson(piece, lessons, ids)]:
                lessons[lesson].append(piece)
    return lessons, contradictions(recorded, ids)


def spots_of(piece: Piece) -> list[Spot]:
    """Return the folders that contain a file, innermost first."""
    return [(piece.item.download, place) for place in piece.name.parents]


def lessons_for(piece: Piece, near: set[str], lessons: Lessons, ids: Ids) -> set[str]:
    """Return the lessons that a file without a record may belong to.

    `near` are the lessons of the nearest outputs. `lessons` are the files whose lesson is already
    known.
    """
    match piece.kind:
        case Kind.OUTPUT:
            return near if len(near) == 1 else hints(piece) & ids.keys()
        case Kind.ANSWERS if len(near) == 1:
            return near
        case Kind.ANSWERS:
            asked = answered_lessons(piece, ids)
            if near:
                return asked & near or asked or near
            if len(asked) > 1:
                asked = asked & lessons.keys() or asked
            hinted = hints(piece) & ids.keys()
            return hinted & asked or asked or hinted
        case Kind.REPORT:
            return near or hints(piece)
        case Kind.PROGRAM:
            return near or set(filter(None, lessons))
        case Kind.TIMESTAMP:
            return near or {
                lesson
                for lesson, mine in lessons.items()
                if lesson and all(one.kind != Kind.TIMESTAMP for one in mine)
            }
    return set()


def default_lesson(piece: Piece, lessons: Lessons, ids: Ids) -> str:
    """Return the only lesson, or the first one that has files.

    An output may come from another lesson, so it is assigned to a lesson only if there is just one.
    """
    if len(ids) == 1:
        return next(iter(ids))
    return "" if piece.kind == Kind.OUTPUT else min(filter(None, lessons), default="")


# --- each source ----------------------------------------------------------------------------------


def recorded_lessons(pieces: Iterable[Piece], ids: Ids) -> dict[Piece, set[str]]:
    """Return the lessons that are named in the outputs' run records.

    A job's error output gets the same lessons.
    """
    jobs: dict[tuple[str, PurePath, str], list[Piece]] = {}
    for piece in pieces:
        if piece.kind == Kind.OUTPUT:
            shared = output_names.read(piece.name.name).shared
            jobs.setdefault((piece.item.download, piece.name.parent, shared), []).append(piece)
    found: dict[Piece, set[str]] = {}
    for same_job in jobs.values():
        named = {lesson for piece in same_job for lesson in lessons_recorded(piece.path)}
        if named and named <= ids.keys():
            found |= dict.fromkeys(same_job, named)
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
    return {lesson_of(lesson) or hinted_lesson(lesson) or lesson} - {""}


def answered_lessons(piece: Piece, ids: Ids) -> set[str]:
    every_id = {id_ for one in ids.values() for id_ in one}
    written, _ = read_answers(piece.path, str(piece.name), every_id)
    mine = {lesson: written.keys() & {*questions} for lesson, questions in ids.items()}
    # Lessons can share ids. A lesson is left out if another one matches the same ids and more.
    return {one for one, some in mine.items() if some and not any(some < m for m in mine.values())}


# --- contradictions -------------------------------------------------------------------------------


def overridden(pieces: Sequence[Piece], lesson: str, ids: Ids) -> list[Doubt]:
    """Return a doubt if the records and answers name other lessons but not this one."""
    named = recorded_lessons(pieces, ids)
    named |= {one: answered_lessons(one, ids) for one in pieces if one.kind == Kind.ANSWERS}
    lessons = {name for found in named.values() for name in found}
    if not lessons or lesson in lessons:
        return []
    first = next(piece for piece, found in named.items() if found)
    detail = f"of lesson {', '.join(sorted(lessons))}, counted as lesson {lesson}"
    return [Doubt(FindingCode.LESSON_OVERRIDDEN, shortened(first.name), detail)]


def contradictions(recorded: Mapping[Piece, set[str]], ids: Ids) -> dict[str, list[Doubt]]:
    """Return a doubt for each file whose folder name and record name different lessons.

    The record counts. A homework number may follow the course's own numbering, so it causes no
    doubt.
    """
    found = defaultdict[str, list[Doubt]](list)
    for piece, lessons in recorded.items():
        for part in piece.name.parts[:-1]:
            hint = hinted_lesson(stem(part))
            if hint in ids and hint not in lessons and claims_lesson(part):
                detail = f"outputs of lesson {', '.join(sorted(lessons))}, and as that they count"
                doubt = Doubt(FindingCode.FOLDER_OF_OTHER_LESSON, shortened(piece.name), detail)
                found[min(lessons)].append(doubt)
    return found
