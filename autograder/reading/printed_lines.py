"""Read the lines outside records: what formats describe, and how programs and jobs ended."""

from collections.abc import Iterable, Sequence

from autograder.reading import ends, lines
from autograder.reading.lanes import add_line
from autograder.reading.line_facts import NOTHING, Reader
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Where

WIDEST = 2000  # characters of a line that readers see, so that patterns stay quick on any line


def read_gaps(
    file: ScannedFile,
    blocks: Iterable[tuple[lines.Block, int]],
    gaps: list[tuple[int, int]],
    readers: Sequence[Reader],
) -> None:
    """Read the parts of a file's blocks that are in the gaps. Each block has its first line."""
    for block, number in blocks:
        end = block.start + len(block.data)
        for start, stop in gaps:
            if start < end and stop > block.start:
                first = max(0, start - block.start)
                part = block.data[first : stop - block.start]
                if stop < end:  # a record line begins here, perhaps in the middle of a line
                    part = part[: part.rfind(b"\n") + 1]
                read_part(file, part, number + block.data.count(b"\n", 0, first), readers)
    for row in file.lanes.rows.values():
        if row.seems_mixed():
            reason = "several processes seem to print their epochs here, and no label tells them "
            reason += "apart, so none is read; use `srun --label`, or let only rank 0 print"
            file.complain(row.mixed or row.lanes[-1].last, "", reason)


def read_part(file: ScannedFile, data: bytes, first: int, readers: Sequence[Reader]) -> None:
    """Read whole lines. `first` is the number of the first one."""
    here = [reader for reader in readers if any(tag.encode() in data for tag in reader.tags)]
    signs = [tag for tag in ends.tags() if tag.encode() in data]
    if not (here or signs or file.open_traceback):
        return
    before = b""
    for number, raw in enumerate(data.split(b"\n"), first):
        label, text = lines.shown(raw)
        if len(text) > WIDEST:
            text = text[-WIDEST:] if b"\r" in raw else text[:WIDEST]
        if not (file.open_traceback and is_in_traceback(file, text, number)):
            read_formats(file, here, label, number, text)
            if any(tag in text for tag in signs):
                read_end(file, text, number, before)
        before = raw


def read_formats(
    file: ScannedFile, readers: Sequence[Reader], label: int | None, number: int, text: str
) -> None:
    """Add what the first reader says that understands the line.

    The heading of an epoch may belong to several formats, and goes to all of them.
    """
    for reader in readers:
        facts = reader.read(text) if any(tag in text for tag in reader.tags) else None
        if facts is None:
            continue
        if facts.run != NOTHING:
            file.facts.append((number, facts.run))
        if facts.number is not None or facts.closes or facts.numbers:
            add_line(file.lanes, reader, label, Where(file.name, number), facts)
        if not facts.opens:
            return


def read_end(file: ScannedFile, text: str, number: int, before: bytes) -> None:
    """Read a line that may report an end or begin a traceback."""
    if ends.TRACEBACK in text:
        file.open_traceback = ends.IGNORED.search(before[:300]) is None
    elif ending := ends.read(text, Where(file.name, number)):
        file.ends.append(ending)


def is_in_traceback(file: ScannedFile, text: str, number: int) -> bool:
    """Return whether the line is part of a traceback, whose lines are program text.

    Its last line names the exception. Frames are indented, and tracebacks of several ranks may be
    mixed.
    """
    if not text or text[0].isspace() or text.startswith(ends.TRACEBACK):
        return True
    file.open_traceback = False
    ending = ends.read_exception(text, Where(file.name, number))
    if ending:
        file.ends.append(ending)
    return ending is not None
