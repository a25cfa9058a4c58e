"""Find when a student submitted a lesson, and which of several attempts is the last.

An attempt is a download or, in JupyterHub's exchange, a folder. In a student's own folder, each
package and each folder that is named after a lesson is an attempt, too. The platform's time decides
which one is the last, then its upload number, then the time at which the files were last changed.
"""

from collections.abc import Sequence

from autograder.codes import FindingCode
from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.class_folder import noted_time
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import WORK, Kind, hinted_lesson, is_package, lesson_of, stem
from autograder.submissions.moments import latest, seconds_of


def whole(piece: Piece) -> str:
    return piece.item.label


def top_of(piece: Piece) -> str | None:
    """Return the package or the lesson's folder in a student's own folder, or None."""
    for place in reversed(piece.name.parents):
        if is_package(place.name) or lesson_of(place.name) or hinted_lesson(stem(place.name)):
            return str(place)
    return None


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Note]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {whole(piece) for piece in pieces if piece.kind in WORK}
    times, doubts = list[str](), list[Note]()
    for piece in pieces:
        if not working or whole(piece) in working:
            times.append(piece.item.submitted)
            if piece.kind == Kind.TIMESTAMP and not piece.item.submitted:
                time, unread = noted_time(piece.path, shortened(piece.name, 80))
                times.append(time)
                doubts += unread
    return latest(times), doubts


def when(pieces: Sequence[Piece]) -> tuple[float, int, float]:
    """Return the facts that put attempts in order. 0: unknown."""
    upload = max((piece.item.upload for piece in pieces), default=0)
    changed = (piece.path.lstat().st_mtime for piece in pieces if piece.kind in WORK)
    return seconds_of(submitted(pieces)[0]) or 0.0, upload, max(changed, default=0.0)


def keep_latest(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Note]]:
    """Keep only the last download and, within it, only the last package or folder."""
    left, left_out = list(pieces), list[str]()
    for attempt_of in (whole, lambda piece: None if piece.item.called else top_of(piece)):
        attempts = grouped((attempt_of(piece), piece) for piece in left)
        attempts.pop(None, None)
        working = [one for one in attempts if any(p.kind in WORK for p in attempts[one])]
        last = max(working, key=lambda one: (*when(attempts[one]), one or ""), default=None)
        dropped = {*working} - {last}
        left = [piece for piece in left if attempt_of(piece) not in dropped]
        left_out += sorted(shortened(one, 80) for one in dropped)
    if not left_out:
        return left, []
    detail = shortened("left out: " + ", ".join(left_out), 300)
    return left, [note_of(FindingCode.LATEST_COUNTS, left_out[0], detail)]
