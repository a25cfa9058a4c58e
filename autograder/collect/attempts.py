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


AttemptOf = Callable[[Piece], Attempt | None]


def whole(piece: Piece) -> Attempt:
    return Attempt(piece.item.download, piece.item.label)


def with_top(piece: Piece) -> Attempt | None:
    """Return the attempt that a file in a student's own folder belongs to, or None."""
    folders = piece.name.parts[:-1] if not piece.item.called else ()
    for depth, part in enumerate(folders, start=1):
        if is_package(part) or lesson_of(part) or hinted_lesson(stem(part)):
            return Attempt(*whole(piece)[:2], "/".join(folders[:depth]))
    return None


# --- the time -----------------------------------------------------------------------------------


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Doubt]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {whole(piece) for piece in pieces if piece.kind in WORK}
    times = {piece.item.submitted for piece in pieces if piece.item.submitted}
    stamps = [one for one in pieces if one.kind == Kind.TIMESTAMP and not one.item.submitted]
    stamps.sort(key=below_lesson)
    notes = {piece: noted_time(piece.path, place_of(piece)) for piece in stamps}
    nearest = {whole(piece): notes[piece][0] for piece in reversed(stamps)}
    times |= {time for attempt, time in nearest.items() if attempt in working}
    last = max(times, key=lambda time: (seconds_of(time) or 0.0, time), default="")
    doubts = [doubt for _, unread in notes.values() for doubt in unread]
    said = [(place_of(piece), time) for piece, (time, _) in notes.items()]
    differ = [f"{time or 'nothing'} in {place}" for place, time in said if time != last]
    if differ:
        detail = shortened("; ".join([f"{last or 'nothing'} counts", *differ[:4]]), 300)
        doubts.append(Doubt(FindingCode.TIMES_DIFFER, "", detail))
    return last, doubts


def place_of(piece: Piece) -> str:
    return shortened(PurePath(piece.item.download, piece.name), 80)


def below_lesson(piece: Piece) -> tuple[int, int, PurePath]:
    """Return a sort key: how many folders and packages deep a file is in its lesson's folder.

    The timestamp nearest to the lesson's folder comes from the tool that collected the submission.
    """
    folders = piece.name.parts[:-1]
    top = next((n for n, part in enumerate(folders, 1) if lesson_of(stem(part))), 0)
    return len(folders) - top, sum(map(is_package, folders)), piece.name


# --- the last of several ------------------------------------------------------------------------


def keep_latest(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Doubt]]:
    """Keep only the last download and, within it, only the last package or folder."""
    left, doubts, left_out = list(pieces), list[Doubt](), list[str]()
    for attempt_of in (whole, with_top):
        attempts: dict[Attempt, list[Piece]] = {}
        for piece in left:
            if (attempt := attempt_of(piece)) and piece.kind in WORK:
                attempts.setdefault(attempt, []).append(piece)
        if len(attempts) > 1:
            last, odd = the_last(attempts, {a: time_of(left, attempt_of, a) for a in attempts})
            dropped = attempts.keys() - {last}
            left = [piece for piece in left if attempt_of(piece) not in dropped]
            left_out += sorted(attempt.shown for attempt in dropped)
            doubts += odd
    if left_out:
        detail = shortened("left out: " + ", ".join(left_out), 300)
        doubts.append(Doubt(FindingCode.LATEST_COUNTS, left_out[0], detail))
    return left, doubts


def time_of(pieces: Sequence[Piece], attempt_of: AttemptOf, attempt: Attempt) -> float | None:
    return seconds_of(submitted([one for one in pieces if attempt_of(one) == attempt])[0])


def the_last(
    attempts: Mapping[Attempt, Sequence[Piece]], noted: Mapping[Attempt, float | None]
) -> tuple[Attempt, list[Doubt]]:
    """Return the latest attempt, by the platform's times and uploads, then by file times."""
    left = list(attempts)
    if all(time is not None for time in noted.values()):
        left = newest(left, lambda one: noted[one] or 0.0, 0.0)
    if all(upload_of(attempts[one]) for one in left):
        left = newest(left, lambda one: upload_of(attempts[one]), 0.0)
    left = newest(left, lambda one: changed(attempts[one]), FILES_S)
    last = max(left, key=lambda one: (one.shown, one))
    contents = [contents_of({p.path: str(p.name) for p in attempts[one]}) for one in left]
    if all(one == contents[0] for one in contents):
        return last, []
    names = " and ".join(sorted(one.shown for one in left))
    detail = shortened(f"of {names}, {last.shown} was taken", 300)
    return last, [Doubt(FindingCode.SAME_TIME, last.shown, detail)]


def upload_of(pieces: Iterable[Piece]) -> int:
    return max((piece.item.upload for piece in pieces), default=0)


def changed(pieces: Iterable[Piece]) -> float:
    """Return when the outputs and answers were last changed; 0 if there are none."""
    return max((piece.time for piece in pieces if piece.kind in WORK), default=0.0)


def is_older(new: Row, earlier: Row) -> bool:
    """Return whether a new attempt is older than the one that was collected before."""
    times = seconds_of(new.submitted), seconds_of(earlier.submitted)
    if times[0] is not None and times[1] is not None and times[0] != times[1]:
        return times[0] < times[1]
    uploads = number_in(new.upload), number_in(earlier.upload)
    if all(uploads) and new.origin == earlier.origin and uploads[0] != uploads[1]:
        return uploads[0] < uploads[1]
    files = number_in(new.changed), number_in(earlier.changed)
    return all(files) and files[1] - files[0] > FILES_S


def number_in(cell: str) -> int:
    return int(cell) if cell.isascii() and cell.isdigit() else 0


def newest(some: list[Attempt], time: Callable[[Attempt], float], apart: float) -> list[Attempt]:
    """Return the newest attempt and all attempts that are at most `apart` seconds older."""
    newest_of_all = max(map(time, some))
    return [one for one in some if newest_of_all - time(one) <= apart]
