"""Find when a student submitted a lesson, and which of several attempts is the last.

An attempt is a download or, in JupyterHub's exchange, a folder. In a student's own folder, each
package and each folder that is named after a lesson is an attempt, too. The platform's time decides
which one is the last, then its upload number, then the time at which the files were last changed.
"""

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.class_folder import noted_time
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import WORK, Kind, is_package, stem
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.moments import seconds_of


class Attempt(NamedTuple):
    download: str
    label: str
    top: str = ""  # a package or a lesson's folder in the download

    def __str__(self) -> str:
        return shortened(self.top or self.label or self.download, 80)


def whole(piece: Piece) -> Attempt:
    return Attempt(piece.item.download, piece.item.label)


def with_top(piece: Piece) -> Attempt | None:
    """Return the attempt that a file in a student's own folder belongs to, or None."""
    for place in () if piece.item.called else reversed(piece.name.parents):
        name = place.name
        if is_package(name) or lesson_of(name) or hinted_lesson(stem(name)):
            return Attempt(piece.item.download, piece.item.label, str(place))
    return None


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Note]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {whole(piece) for piece in pieces if piece.kind in WORK}
    times, doubts = {""}, list[Note]()
    for piece in pieces:
        if not working or whole(piece) in working:
            times.add(piece.item.submitted)
            if piece.kind == Kind.TIMESTAMP and not piece.item.submitted:
                place = shortened(PurePath(piece.item.download, piece.name), 80)
                time, unread = noted_time(piece.path, place)
                times.add(time)
                doubts += unread
    return max(times, key=lambda time: (seconds_of(time) or 0.0, time)), doubts


def when(pieces: Sequence[Piece]) -> tuple[float, int, float]:
    """Return the facts that put attempts in order. 0: unknown."""
    upload = max((piece.item.upload for piece in pieces), default=0)
    changed = (piece.path.lstat().st_mtime for piece in pieces if piece.kind in WORK)
    return seconds_of(submitted(pieces)[0]) or 0.0, upload, max(changed, default=0.0)


def keep_latest(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Note]]:
    """Keep only the last download and, within it, only the last package or folder."""
    left, left_out = list(pieces), list[str]()
    kinds: tuple[Callable[[Piece], Attempt | None], ...] = (whole, with_top)
    for attempt_of in kinds:
        attempts = grouped((attempt_of(piece), piece) for piece in left)
        working = {
            attempt: mine
            for attempt, mine in attempts.items()
            if attempt and any(piece.kind in WORK for piece in mine)
        }
        last = max(working, key=lambda one: (*when(working[one]), str(one)), default=None)
        dropped = working.keys() - {last}
        left = [piece for piece in left if attempt_of(piece) not in dropped]
        left_out += sorted(map(str, dropped))
    if not left_out:
        return left, []
    detail = shortened("left out: " + ", ".join(left_out), 300)
    return left, [note_of(FindingCode.LATEST_COUNTS, left_out[0], detail)]
