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
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.reading import lines
from autograder.safe_text import shortened
from autograder.submissions import output_names
from autograder.submissions.answers import read_answers
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import Kind, stem
from autograder.submissions.lesson_names import folder_lesson, hinted_lesson, lesson_of
from autograder.submissions.regular_files import open_regular

HEADER = b'"header"'
# The lesson is at most 300 bytes after the word.
LESSON = re.compile(rb'"header".{0,300}?"lesson": ?"([\w-]{1,40})"')
# Each kind needs the lessons of the kinds before it.
ORDER = (Kind.OUTPUT, Kind.ANSWERS, Kind.REPORT, Kind.PROGRAM, Kind.TIMESTAMP, Kind.OTHER)

Ids = Mapping[str, Collection[str]]  # lesson -> ids of its questions
Lessons = dict[str, list[Piece]]  # "": unknown lesson


def named_lesson(name: PurePath, ids: Ids) -> str:
    """Return the lesson that a folder or archive containing the file is named after."""
    parts = [*name.parts[:-1], name.name if stem(name.name) != name.name else ""]
    found = (folder_lesson(stem(part), ids) for part in parts)
    return next(filter(None, found), "")


def sort_out(pieces: Sequence[Piece], ids: Ids) -> Lessons:
    """Return the files by lesson. A file may belong to several lessons."""
    lessons: Lessons = defaultdict(list)
    recorded = recorded_lessons(pieces, ids)
    outputs = defaultdict[PurePath, set[str]](set)  # the lessons of a folder's outputs
    for piece, found in recorded.items():
        for place in piece.name.parents:
            outputs[place] |= found
    for piece in sorted(pieces, key=lambda piece: ORDER.index(piece.kind)):
        named = named_lesson(piece.name, ids)
        found = {named} if named else recorded.get(piece) or set[str]()
        if not found:
            around = next((outputs[place] for place in piece.name.parents if place in outputs), ())
            known = lessons.keys() - {""} if piece.kind != Kind.OUTPUT else ()
            alone = ids.keys() if len(ids) == 1 else ()
            found = {*(around or hints(piece) & ids.keys() or known or alone)}
            if piece.kind == Kind.ANSWERS:
                asked = answered_lessons(piece, ids)
                found = asked & found or asked or found
        for lesson in sorted(found) or [""]:
            lessons[lesson].append(piece)
    return lessons


# --- each source ----------------------------------------------------------------------------------


def recorded_lessons(pieces: Iterable[Piece], ids: Ids) -> dict[Piece, set[str]]:
    """Return the lessons in the run records of outputs. A job's error output gets the same ones."""
    jobs = grouped(
        (output_names.read(str(one.name)).shared, one) for one in pieces if one.kind == Kind.OUTPUT
    )
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
    return {lesson_of(lesson) or hinted_lesson(lesson) or lesson}


def answered_lessons(piece: Piece, ids: Ids) -> set[str]:
    every_id = {id_ for one in ids.values() for id_ in one}
    written, _ = read_answers(piece.path, str(piece.name), every_id)
    mine = {lesson: written.keys() & {*questions} for lesson, questions in ids.items()}
    # Lessons can share ids. A lesson is left out if another one matches the same ids and more.
    return {one for one, some in mine.items() if some and not any(some < m for m in mine.values())}


def overridden(pieces: Sequence[Piece], lesson: str, ids: Ids) -> list[Note]:
    """Return a doubt if the records and answers name other lessons but not this one."""
    named = recorded_lessons(pieces, ids)
    named |= {one: answered_lessons(one, ids) for one in pieces if one.kind == Kind.ANSWERS}
    lessons = {name for found in named.values() for name in found}
    if not lessons or lesson in lessons:
        return []
    first = next(piece for piece, found in named.items() if found)
    detail = f"of lesson {', '.join(sorted(lessons))}, counted as lesson {lesson}"
    return [note_of(FindingCode.LESSON_OVERRIDDEN, shortened(first.name), detail)]
