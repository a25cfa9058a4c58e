"""Find out which lesson each file belongs to.

A folder that has a lesson's name decides first, then the run record in an output. A file without a
record belongs to the lesson of the outputs beside it, or else to the one that the platform names.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath

from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.reading.files import read_files
from autograder.submissions import kinds
from autograder.submissions.kinds import Kind, folder_lesson, stem

Names = Collection[str]  # of all lessons
Lessons = dict[str, list[Piece]]  # "": unknown lesson


def named_lesson(name: PurePath, names: Names) -> str:
    """Return the lesson that a folder or archive containing the file is named after."""
    parts = [*name.parts[:-1], name.name if stem(name.name) != name.name else ""]
    lessons = (folder_lesson(stem(part), names) for part in parts)
    return next(filter(None, lessons), "")


def sort_out(pieces: Sequence[Piece], names: Names) -> Lessons:
    """Return the files by lesson. A file may belong to several lessons."""
    recorded = recorded_lessons(pieces, names)
    outputs = defaultdict[PurePath, set[str]](set)  # the lessons of a folder's outputs
    for piece, belongs_to in recorded.items():
        for place in piece.name.parents:
            outputs[place] |= belongs_to
    lessons: Lessons = defaultdict(list)
    for piece in pieces:
        named = named_lesson(piece.name, names)
        around = next((outputs[place] for place in piece.name.parents if place in outputs), set())
        if piece.kind == Kind.OUTPUT and len(around) > 1:  # it belongs to one lesson
            around = set()
        otherwise = {*names} if len(names) == 1 else {folder_lesson(piece.item.lesson, names) or ""}
        belongs_to = {named} if named else recorded.get(piece) or around or otherwise
        for lesson in sorted(belongs_to):
            lessons[lesson].append(piece)
    return lessons


def recorded_lessons(pieces: Iterable[Piece], names: Names) -> dict[Piece, set[str]]:
    """Return the lessons in the run records of outputs. A job's error output gets the same ones."""
    jobs = grouped(
        (kinds.output_name(str(p.name)).shared, p) for p in pieces if p.kind == Kind.OUTPUT
    )
    recorded: dict[Piece, set[str]] = {}
    for same_job in jobs.values():
        runs = read_files({piece.path: str(piece.name) for piece in same_job})
        lessons = {run.header.lesson for run in runs if run.header.lesson}
        if lessons and lessons <= {*names}:
            recorded |= dict.fromkeys(same_job, lessons)
    return recorded
