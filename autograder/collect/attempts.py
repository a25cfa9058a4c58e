"""Several attempts of one student at a lesson: when each was submitted, and which is the last.

An attempt is a download, or in one a folder of JupyterHub's exchange; within it a package or a
folder named after the lesson. The platform's time decides, else when the files were last changed,
else when the archives were; where these are equal, the attempt that holds the files of all others,
and last the name. The instructor is told wherever contents or a name decided.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.collect.pieces import Piece
from autograder.safe_text import shortened
from autograder.submissions.class_folder import noted_time
from autograder.submissions.doubts import Doubt
from autograder.submissions.kinds import WORK, Kind, is_package, stem
from autograder.submissions.lesson_files import contents_of
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.moments import seconds_of

FILES_S = 2.0  # a zip's clock counts every other second
PACKAGES_S = 60.0  # a class that is copied or unpacked gets times as near as this
BROWSERS = re.compile(r" ?\((\d{1,3})\)\Z")  # the second `work.zip` of a folder of downloads


class Attempt(NamedTuple):
    download: str
    label: str
    top: str = ""  # a package or the lesson's folder in it; empty: beside these

    @property
    def shown(self) -> str:
        return shortened(self.top or self.label or self.download, 80)


AttemptOf = Callable[[Piece], Attempt | None]
Attempts = Mapping[Attempt, Sequence[Piece]]


def whole(piece: Piece) -> Attempt:
    return Attempt(piece.item.download, piece.item.label)


def with_top(piece: Piece) -> Attempt | None:
    """Return the attempt within a student's own folder; None for what is beside packages."""
    folders = piece.name.parts[:-1] if not piece.item.called else ()
    for depth, part in enumerate(folders, start=1):
        if is_package(part) or lesson_of(part) or hinted_lesson(stem(part)):
            return Attempt(*whole(piece)[:2], "/".join(folders[:depth]))
    return None


# --- the time -----------------------------------------------------------------------------------


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Doubt]]:
    """Return when the last of these was submitted: before that, not all of it was there."""
    working = {whole(piece) for piece in pieces if piece.kind in WORK}
    times = {piece.item.submitted for piece in pieces if piece.item.submitted}
    stamps = sorted(
        (piece for piece in pieces if piece.kind == Kind.TIMESTAMP and not piece.item.submitted),
        key=below_lesson,
    )
    nearest: dict[Attempt, Piece] = {}
    for piece in stamps:
        if whole(piece) in working:
            nearest.setdefault(whole(piece), piece)
    notes = {piece: noted_time(piece.path, place_of(piece)) for piece in stamps}
    said = {piece: time for piece, (time, _) in notes.items()}
    doubts = [doubt for _, unread in notes.values() for doubt in unread]
    times |= {said[piece] for piece in nearest.values()}
    last = max(times, key=lambda time: (seconds_of(time) or 0.0, time), default="")
    differ = [piece for piece in stamps if said[piece] != last]
    if not differ:
        return last, doubts
    others = ", ".join(f"{said[one] or 'nothing'} in {place_of(one)}" for one in differ[:4])
    detail = shortened(f"{last or 'nothing'} counts; {others}", 300)
    return last, [*doubts, Doubt(FindingCode.TIMES_DIFFER, place_of(differ[0]), detail)]


def place_of(piece: Piece) -> str:
    return shortened(PurePath(piece.item.download, piece.name), 80)


def below_lesson(piece: Piece) -> tuple[int, int, PurePath]:
    """Return how far below its lesson's folder a file is, and in how many packages. The tool that
    took the submission wrote the file nearest to the top."""
    folders = piece.name.parts[:-1]
    top = next((n for n, part in enumerate(folders, 1) if lesson_of(stem(part))), 0)
    return len(folders) - top, sum(map(is_package, folders)), piece.name


# --- the last of several ------------------------------------------------------------------------


def keep_latest(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Doubt]]:
    """Keep the last of several downloads, and of the packages and folders in what is left."""
    left, doubts = list(pieces), list[Doubt]()
    left_out: list[str] = []
    for attempt_of in (whole, with_top):
        left, names, found = keep_last(left, attempt_of)
        left_out += names
        doubts += found
    if left_out:
        detail = shortened("left out: " + ", ".join(left_out), 300)
        doubts.append(Doubt(FindingCode.LATEST_COUNTS, left_out[0], detail))
    return left, doubts


def keep_last(
    pieces: Sequence[Piece], attempt_of: AttemptOf
) -> tuple[list[Piece], list[str], list[Doubt]]:
    """Leave out all but the last attempt; what is beside packages and folders stays."""
    attempts: dict[Attempt, list[Piece]] = {}
    for piece in pieces:
        if attempt := attempt_of(piece):
            attempts.setdefault(attempt, []).append(piece)
    apart = {a: mine for a, mine in attempts.items() if any(p.kind in WORK for p in mine)}
    if len(apart) < 2:
        return list(pieces), [], []
    last, doubts = the_last(apart)
    dropped = apart.keys() - {last}
    kept = [piece for piece in pieces if attempt_of(piece) not in dropped]
    return kept, sorted(attempt.shown for attempt in dropped), doubts


def the_last(attempts: Attempts) -> tuple[Attempt, list[Doubt]]:
    left = list(attempts)
    noted = {one: seconds_of(submitted(attempts[one])[0]) for one in left}
    if all(time is not None for time in noted.values()):
        left = newest(left, lambda one: noted[one] or 0.0, 0.0)
    left = newest(left, lambda one: max(map(time_changed, attempts[one])), FILES_S)
    if all(packed_at(attempts[one]) for one in left):
        left = newest(left, lambda one: packed_at(attempts[one]), PACKAGES_S)
    equal = left
    inside = {one: contents(attempts[one]) for one in (left if len(left) > 1 else ())}
    left = [one for one in left if all(inside[one] >= inside[other] for other in inside)] or left
    last = max(left, key=lambda one: (browsers_number(one.shown), one.shown, one))
    if len({frozenset(one) for one in inside.values()}) < 2:
        return last, []  # one is left, or all hold the same
    why = "it holds all files of the others" if len(left) < len(equal) else "by its name alone"
    names = " and ".join(sorted(one.shown for one in equal))
    detail = shortened(f"of {names}, {last.shown} was taken: {why}", 300)
    return last, [Doubt(FindingCode.SAME_TIME, last.shown, detail)]


def newest(some: list[Attempt], time: Callable[[Attempt], float], apart: float) -> list[Attempt]:
    """Return all that are about as new as the newest."""
    newest_of_all = max(map(time, some))
    return [one for one in some if newest_of_all - time(one) <= apart]


def time_changed(piece: Piece) -> float:
    return piece.time if piece.kind in WORK else 0.0


def packed_at(pieces: Iterable[Piece]) -> float:
    return max((piece.packed_at for piece in pieces), default=0.0)


def contents(pieces: Iterable[Piece]) -> set[tuple[str, bytes]]:
    return contents_of({one.path: str(one.name) for one in pieces if one.kind in WORK})


def browsers_number(name: str) -> int:
    number = BROWSERS.search(stem(name))
    return int(number[1]) if number else 0
