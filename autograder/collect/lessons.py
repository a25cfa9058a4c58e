"""Find out which lesson each file belongs to.

A folder that has a lesson's name decides first, then the run record in an output. A file without a
record belongs to the lesson of the outputs beside it, and answers belong to the lesson of their
questions. As a last resort, a number in a folder's name (`hw07`) serves as a hint.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath

from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.reading.files import read_files
from autograder.submissions import kinds
from autograder.submissions.answers import read_answers
from autograder.submissions.kinds import Kind, folder_lesson, hinted_lesson, lesson_of, stem

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
            known = lessons.keys() - {""}
            if piece.kind == Kind.OUTPUT:  # it belongs to one lesson, so several say nothing
                around, known = around if len(around) == 1 else (), set()
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
        (kinds.output_name(str(one.name)).shared, one) for one in pieces if one.kind == Kind.OUTPUT
    )
    found: dict[Piece, set[str]] = {}
    for same_job in jobs.values():
        runs = read_files({piece.path: str(piece.name) for piece in same_job})
        lessons = {run.header.lesson for run in runs if run.header.lesson}
        if lessons and lessons <= ids.keys():
            found |= dict.fromkeys(same_job, lessons)
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
