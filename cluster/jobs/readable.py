"""Read the part of a job's output that is for people, without the lines of the run record."""

from collections.abc import Iterable, Iterator

RECORD = b":::MLLOG "  # docs/run-record.md


def readable_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines without the record and without line endings."""
    chunks = (f"{line}\n".encode(errors="surrogateescape") for line in lines)
    kept = b"".join(readable(chunks)).decode(errors="surrogateescape")
    return kept.removesuffix("\n").split("\n") if kept else []


def readable(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the output's lines as they arrive, without the record.

    The record starts each of its lines with a newline, in case the previous line is unfinished. An
    empty line directly before a record line therefore belongs to the record.
    """
    blank = rest = b""  # an empty line that may belong to the record; the unfinished line
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        kept = b""
        for line in lines:
            if RECORD in line:
                blank = b""
            else:
                kept += blank + line + b"\n" if line else blank
                blank = b"" if line else b"\n"
        if kept:
            yield kept
    if RECORD not in rest:
        yield blank + rest
