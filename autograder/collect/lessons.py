"""Find out which lesson each file belongs to.

A folder that has a lesson's name decides first, then the run record in an output. A file without a
record belongs to the lesson of the outputs beside it, and answers belong to the lesson of their
questions. As a last resort, a number in a folder's name (`hw07`) serves as a hint.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.reading.files import read_files
from autograder.submissions import kinds
from autograder.submissions.answers import answers_of
from autograder.submissions.kinds import Kind, folder_lesson, hinted_lesson, lesson_of, stem

# Each kind needs the lessons of the kinds before it.
ORDER = (Kind.OUTPUT, Kind.ANSWERS, Kind.REPORT, Kind.PROGRAM, Kind.TIMESTAMP, Kind.OTHER)

Ids = Mapping[str, Collection[str]]  # lesson -> ids of its questions
Lessons = dict[str, list[Piece]]  # "": unknown lesson


def named_lesson(name: PurePath, ids: Ids) -> str:
    """Return the lesson that a folder or archive containing the file is named after."""
    parts = [*name.parts[:-1], name.name if stem(name.name) != name.name else ""]
    lessons = (folder_lesson(stem(part), ids) for part in parts)
    return next(filter(None, lessons), "")


def sort_out(pieces: Sequence[Piece], ids: Ids) -> Lessons:
    """Return the files by lesson. A file may belong to several lessons."""
    lessons: Lessons = defaultdict(list)
    recorded = recorded_lessons(pieces, ids)
    outputs = defaultdict[PurePath, set[str]](set)  # the lessons of a folder's outputs
    for piece, belongs_to in recorded.items():
        for place in piece.name.parents:
            outputs[place] |= belongs_to
    for piece in sorted(pieces, key=lambda piece: ORDER.index(piece.kind)):
        named = named_lesson(piece.name, ids)
        belongs_to = {named} if named else recorded.get(piece) or set[str]()
        if not belongs_to:
            around = next((outputs[place] for place in piece.name.parents if place in outputs), ())
            known = lessons.keys() - {""}
            if piece.kind == Kind.OUTPUT:  # it belongs to one lesson, so several say nothing
                around, known = around if len(around) == 1 else (), set()
            alone = ids.keys() if len(ids) == 1 else ()
            belongs_to = {*(around or hints(piece) & ids.keys() or known or alone)}
            if piece.kind == Kind.ANSWERS:
                asked = answered_lessons(piece, ids)
                belongs_to = asked & belongs_to or asked or belongs_to
        for lesson in sorted(belongs_to) or [""]:
            lessons[lesson].append(piece)
    return lessons


# --- each source ----------------------------------------------------------------------------------


def recorded_lessons(pieces: Iterable[Piece], ids: Ids) -> dict[Piece, set[str]]:
    """Return the lessons in the run records of outputs. A job's error output gets the same ones."""
    jobs = grouped(
        (kinds.output_name(str(p.name)).shared, p) for p in pieces if p.kind == Kind.OUTPUT
    )
    recorded: dict[Piece, set[str]] = {}
    for same_job in jobs.values():
        runs = read_files({piece.path: str(piece.name) for piece in same_job})
        lessons = {run.header.lesson for run in runs if run.header.lesson}
        if lessons and lessons <= ids.keys():
            recorded |= dict.fromkeys(same_job, lessons)
    return recorded


def hints(piece: Piece) -> set[str]:
    """Return the lesson number in the nearest folder's name; otherwise the platform's lesson."""
    for part in reversed(piece.name.parts[:-1]):
        if hint := hinted_lesson(stem(part)):
            return {hint}
    lesson = piece.item.lesson
    return {lesson_of(lesson) or hinted_lesson(lesson) or lesson}


def answered_lessons(piece: Piece, ids: Ids) -> set[str]:
    written, _ = answers_of({piece.path: str(piece.name)}, {*chain.from_iterable(ids.values())})
    answered = {lesson: written.keys() & {*questions} for lesson, questions in ids.items()}
    # Lessons can share ids. A lesson is left out if another one matches the same ids and more.
    sets = answered.values()
    return {lesson for lesson, own in answered.items() if own and not any(own < s for s in sets)}
