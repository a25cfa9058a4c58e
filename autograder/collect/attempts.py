"""Find when a student submitted each attempt at a lesson, and which attempt is the last.

An attempt is a download or, in JupyterHub's exchange, a folder. Each package in an attempt, and
each folder in it that is named after the lesson, also counts as an attempt. The platform's time
takes precedence, then its upload number, then the time at which the files were last changed. If the
times are equal, the name decides, and a doubt is noted unless the attempts are copies.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.collect.download import Piece
from autograder.grouping import grouped
from autograder.safe_text import shortened
from autograder.submissions.class_folder import noted_time
from autograder.submissions.doubts import Doubt
from autograder.submissions.kinds import WORK, Kind, is_package, stem
from autograder.submissions.lesson_files import contents_of
from autograder.submissions.lesson_names import hinted_lesson, lesson_of
from autograder.submissions.manifest import Row
from autograder.submissions.moments import seconds_of

FILES_S = 2.0  # zip files store times in steps of two seconds


class Attempt(NamedTuple):
    download: str
    label: str
    top: str = ""  # a package or the lesson's folder in the download; empty: files outside of these

    @property
    def shown(self) -> str:
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


# --- the time -----------------------------------------------------------------------------------


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Doubt]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {whole(piece) for piece in pieces if piece.kind in WORK}
    times = {piece.item.submitted for piece in pieces if piece.item.submitted}
    notes, doubts = list[tuple[str, str]](), list[Doubt]()
    for piece in pieces:
        if piece.kind == Kind.TIMESTAMP and not piece.item.submitted:
            place = shortened(PurePath(piece.item.download, piece.name), 80)
            time, unread = noted_time(piece.path, place)
            notes.append((time, place))
            doubts += unread
            if whole(piece) in working:
                times.add(time)
    last = max(times, key=lambda time: (seconds_of(time) or 0.0, time), default="")
    differ = [f"{time or 'nothing'} in {place}" for time, place in notes if time != last]
    if differ:
        detail = shortened("; ".join([f"{last or 'nothing'} counts", *differ[:4]]), 300)
        doubts.append(Doubt(FindingCode.TIMES_DIFFER, "", detail))
    return last, doubts


# --- the last of several ------------------------------------------------------------------------


class When(NamedTuple):
    """The facts that put attempts in order. 0: unknown."""

    submitted: float
    upload: int
    changed: float  # when the outputs and answers were last changed


def when(pieces: Sequence[Piece]) -> When:
    upload = max((piece.item.upload for piece in pieces), default=0)
    return When(seconds_of(submitted(pieces)[0]) or 0.0, upload, changed(pieces))


def when_collected(row: Row) -> When:
    upload, changed = (int(cell) if cell.isdecimal() else 0 for cell in (row.upload, row.changed))
    return When(seconds_of(row.submitted) or 0.0, upload, changed)


def is_older(new: Row, earlier: Row) -> bool:
    """Return whether a new attempt is older than the one that was collected before.

    Upload numbers are comparable only within one platform.
    """
    one, other = when_collected(new), when_collected(earlier)
    if one.submitted and other.submitted and one.submitted != other.submitted:
        return one.submitted < other.submitted
    uploads = (one.upload, other.upload)
    if all(uploads) and new.origin == earlier.origin and uploads[0] != uploads[1]:
        return one.upload < other.upload
    return bool(one.changed) and other.changed - one.changed > FILES_S


def changed(pieces: Iterable[Piece]) -> float:
    times = (piece.path.lstat().st_mtime for piece in pieces if piece.kind in WORK)
    return max(times, default=0.0)


def keep_latest(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Doubt]]:
    """Keep only the last download and, within it, only the last package or folder."""
    left, doubts, left_out = list(pieces), list[Doubt](), list[str]()
    kinds: tuple[Callable[[Piece], Attempt | None], ...] = (whole, with_top)
    for attempt_of in kinds:
        by_attempt = grouped((attempt_of(piece), piece) for piece in left)
        attempts = {
            attempt: mine
            for attempt, mine in by_attempt.items()
            if attempt and any(piece.kind in WORK for piece in mine)
        }
        if len(attempts) > 1:
            last, odd = the_last(attempts)
            dropped = attempts.keys() - {last}
            left = [piece for piece in left if attempt_of(piece) not in dropped]
            left_out += sorted(attempt.shown for attempt in dropped)
            doubts += odd
    if left_out:
        detail = shortened("left out: " + ", ".join(left_out), 300)
        doubts.append(Doubt(FindingCode.LATEST_COUNTS, left_out[0], detail))
    return left, doubts


def the_last(attempts: Mapping[Attempt, Sequence[Piece]]) -> tuple[Attempt, list[Doubt]]:
    """Return the latest attempt, by the platform's times and uploads, then by file times."""
    times = {attempt: when(pieces) for attempt, pieces in attempts.items()}
    left = sorted(attempts, key=lambda one: (one.shown, one))
    for fact, apart in (("submitted", 0.0), ("upload", 0.0), ("changed", FILES_S)):
        known = {one: getattr(times[one], fact) for one in left}
        if fact == "changed" or all(known.values()):
            left = [one for one in left if max(known.values()) - known[one] <= apart]
    last = left[-1]
    contents = [
        contents_of({piece.path: piece.name.name for piece in attempts[one] if piece.kind in WORK})
        for one in left
    ]
    if all(one == contents[0] for one in contents):
        return last, []
    names = " and ".join(one.shown for one in left)
    detail = shortened(f"of {names}, {last.shown} was taken", 300)
    return last, [Doubt(FindingCode.SAME_TIME, last.shown, detail)]
