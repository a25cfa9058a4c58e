"""Choose file names for a lesson's folder in the collected class."""

from collections.abc import Collection, Iterable
from pathlib import Path, PurePath

from autograder.codes import FindingCode
from autograder.collect.pieces import Piece
from autograder.safe_text import shortened
from autograder.submissions.doubts import Doubt
from autograder.submissions.kinds import COPIED, stem
from autograder.submissions.lesson_files import LessonFiles, count_copies_once, shorten_names
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.walk import Found


def named(pieces: Iterable[Piece]) -> tuple[dict[str, Path], list[Doubt]]:
    """Return the paths of files by their names in the lesson's folder. Copies count once."""
    mine = [piece for piece in pieces if piece.kind in COPIED]
    several = len({piece.item.download for piece in mine}) > 1
    files = LessonFiles(None)
    for piece in mine:
        whole = PurePath(piece.item.download, piece.name) if several else piece.name
        files.add(Found(piece.path, whole, piece.kind))
    kinds = (files.outputs, files.answers, files.reports, files.programs)
    for kind in kinds[:3]:
        count_copies_once(kind)
    places = lesson_folders([*files.outputs.values(), *files.answers.values()])
    shorten_names(files)
    result: dict[str, Path] = {}
    for path, name in (both for kind in kinds for both in kind.items()):
        result[unused(name, result)] = path
    doubt = Doubt(FindingCode.SEVERAL_FOLDERS, "", shortened(", ".join(places)))
    return result, [doubt] if len(places) > 1 else []


def lesson_folders(names: Iterable[str]) -> list[str]:
    """Return the folders and packages that contain the files and are named after a lesson."""
    places = set()
    for name in names:
        folders = PurePath(name).parts[:-1]
        depth = next((n for n, part in enumerate(folders, 1) if lesson_of(stem(part))), 0)
        if depth:
            places.add("/".join(folders[:depth]))
    return sorted(places)


def unused(name: str, taken: Collection[str]) -> str:
    path = PurePath(name)
    number = 1
    while name in taken:
        number += 1
        name = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    return name
