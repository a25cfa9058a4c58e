"""Read the lines outside records: what formats describe, and how programs and jobs ended."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from autograder.reading import ends, lines
from autograder.reading.lanes import add_line
from autograder.reading.line_facts import NOTHING, Reader
from autograder.reading.run_drafts import ScannedFile
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
            reason = (
                "several processes or trainings print their epochs here, and no label tells them "
                "apart, so none is read; use `srun --label`, or let only rank 0 print"
            )
            file.complain(row.mixed or row.lanes[-1].last, "", reason)


def read_part(file: ScannedFile, data: bytes, first: int, readers: Sequence[Reader]) -> None:
    """Read whole lines. `first` is the number of the first one."""
    here = [reader for reader in readers if any(tag.encode() in data for tag in reader.tags)]
    signs = [tag for tag in ends.tags() if tag.encode() in data]
    tags = {tag.encode() for tag in (*signs, *(tag for reader in here for tag in reader.tags))}
    for number, at, raw in lines_with(file, data, first, tags):
        label, text = lines.shown(raw)
        if len(text) > WIDEST:
            text = text[-WIDEST:] if b"\r" in raw else text[:WIDEST]
        if not (file.open_traceback and is_in_traceback(file, text, number)):
            read_formats(file, here, label, number, text)
            if any(tag in text for tag in signs):
                before = data[data.rfind(b"\n", 0, max(at - 1, 0)) + 1 : at]
                if ends.TRACEBACK in text:
                    file.open_traceback = ends.IGNORED.search(before[:300]) is None
                elif ending := ends.read(text, Where(file.name, number)):
                    file.ends.append(ending)


def lines_with(
    file: ScannedFile, data: bytes, number: int, tags: Iterable[bytes]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines that have a tag or are in a traceback, each with its number and place."""
    starts = deque(
        sorted({data.rfind(b"\n", 0, at) + 1 for tag in tags for at in places(data, tag)})
    )
    at = 0
    while at < len(data):
        if not file.open_traceback:
            while starts and starts[0] < at:
                starts.popleft()
            if not starts:
                return
            number, at = number + data.count(b"\n", at, starts[0]), starts[0]
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield number, at, data[at:end]
        number, at = number + 1, end + 1


def places(data: bytes, tag: bytes) -> Iterator[int]:
    """Yield the place of a tag in each line that has it."""
    at = data.find(tag)
    while at >= 0:
        yield at
        at = data.find(tag, data.find(b"\n", at) + 1 or len(data))


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
