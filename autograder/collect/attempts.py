"""Find when a student submitted a lesson, and which of several attempts is the last.

An attempt is a download or, in JupyterHub's exchange, a folder. The platform's time decides which
one is the last, then Canvas's upload number, then the order of the downloads.
"""

from collections.abc import Sequence

from autograder.codes import FindingCode
from autograder.collect.download import Item, Piece
from autograder.grouping import grouped
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.submissions.class_folder import noted_time
from autograder.submissions.doubts import note_of
from autograder.submissions.kinds import WORK, Kind
from autograder.submissions.moments import latest, seconds_of


def submitted(pieces: Sequence[Piece]) -> tuple[str, list[Note]]:
    """Return when the last of these files was submitted, which is when the work was complete."""
    working = {piece.item.label for piece in pieces if piece.kind in WORK}
    times, doubts = list[str](), list[Note]()
    for piece in pieces:
        if not working or piece.item.label in working:
            times.append(piece.item.submitted)
            if piece.kind == Kind.TIMESTAMP and not piece.item.submitted:
                time, unread = noted_time(piece.path, shortened(piece.name, 80))
                times.append(time)
                doubts += unread
    return latest(times), doubts


def keep_latest(pieces: Sequence[Piece], items: Sequence[Item]) -> tuple[list[Piece], list[Note]]:
    """Leave out all attempts with outputs or answers except the last one.

    `items` are in the order of the downloads, and `pieces` in any order.
    """
    attempts = grouped((piece.item.label, piece) for piece in pieces)
    labels = dict.fromkeys(item.label for item in items)
    working = [name for name in labels if any(p.kind in WORK for p in attempts.get(name, ()))]

    def place(label: str) -> tuple[float, int, int]:
        upload = max(piece.item.upload for piece in attempts[label])
        return seconds_of(submitted(attempts[label])[0]) or 0.0, upload, working.index(label)

    dropped = sorted({*working} - {max(working, key=place, default="")})
    if not dropped:
        return [*pieces], []
    detail = shortened("left out: " + ", ".join(shortened(label, 80) for label in dropped), 300)
    left = [piece for piece in pieces if piece.item.label not in dropped]
    return left, [note_of(FindingCode.LATEST_COUNTS, shortened(dropped[0], 80), detail)]
