"""Read the part of a job's output that is for people, without the lines of the run record."""

from collections.abc import Iterable, Iterator

RECORD = b":::MLLOG "  # docs/run-record.md


def readable_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines without the record and without line endings."""
    chunks = (f"{line}\n".encode(errors="surrogateescape") for line in lines)
    kept = b"".join(readable(chunks)).decode(errors="surrogateescape")
    return kept.removesuffix("\n").split("\n") if kept else []


def readable(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the output without the record, passing on each part as soon as possible.

    The record starts each of its lines with a newline, in case the previous line is unfinished. An
    empty line directly before a record line therefore belongs to the record.
    """
    blanks: list[bytes] = []  # a line of the record may still follow
    unfinished = b""
    begun = False  # whether the beginning of the unfinished line was yielded
    for chunk in chunks:
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        kept: list[bytes] = []
        for line in lines:
            kept += [line + b"\n"] if begun else _kept(line + b"\n", blanks)
            begun = False
        if unfinished and not _may_be_record(unfinished):
            kept += [*blanks, unfinished]
            blanks.clear()
            unfinished, begun = b"", True
        if kept:
            yield b"".join(kept)
    if RECORD not in unfinished and (blanks or unfinished):
        yield b"".join([*blanks, unfinished])


def _kept(line: bytes, blanks: list[bytes]) -> list[bytes]:
    """Return the lines that cannot belong to the record.

    Empty lines that may still belong to the record are kept in `blanks`.
    """
    if RECORD in line:
        kept = blanks[:-1]
        blanks.clear()
        return kept
    if line == b"\n":
        blanks.append(line)
        return []
    kept = [*blanks, line]
    blanks.clear()
    return kept


def _may_be_record(unfinished: bytes) -> bool:
    """Return whether an unfinished line contains the record's tag or the beginning of it."""
    return RECORD in unfinished or any(unfinished.endswith(RECORD[:n]) for n in range(1, 9))
