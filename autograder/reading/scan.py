"""One file, from blocks of lines to what its lines say.

First the tagged lines of records, found by their tag alone. Then, only outside of the lines that
belong to a record's run, the lines of all other formats: those with one of a few anchors are
cleaned and shown to the readers.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Generic, TypeVar

from autograder.reading import assemble, lines, outcome
from autograder.reading.formats import (
    bars,
    huggingface,
    keras,
    lightning,
    mllog,
    plain,
    record,
    run_facts,
    timm,
    torch_examples,
)
from autograder.reading.formats.reader import Reader, Said
from autograder.reading.outcome import Sign
from autograder.records import Problem, Where

# In the order of trust, where several understand the same lines.
READERS: tuple[Reader, ...] = (
    keras.READER,
    *torch_examples.READERS,
    timm.READER,
    huggingface.READER,
    lightning.READER,
    plain.READER,
)
T = TypeVar("T")
FORMAT, FACT, SIGN = 1, 2, 4
# Every tag of a reader has one of these inside: few enough to search a whole file for.
ANCHORS: tuple[tuple[bytes, int], ...] = (
    *((anchor, FORMAT) for anchor in (b"poch", b"POCH", b"oss: ", b"cc@1", b"rec@1", bars.TAG)),
    *((anchor, FACT) for anchor in run_facts.ANCHORS),
    *((anchor, SIGN) for anchor in outcome.ANCHORS),
)
WIDEST = 2000  # characters of a line that the readers see: patterns stay quick on any line
MOST = 500  # facts and signs kept of a file: so many of its beginning and of its end


class Ends(Generic[T]):
    """The first and the last of many: what a bounded memory keeps of a flood."""

    def __init__(self) -> None:
        self.first: list[T] = []
        self.last: deque[T] = deque(maxlen=MOST)

    def append(self, item: T) -> None:
        (self.first if len(self.first) < MOST else self.last).append(item)

    def __iter__(self) -> Iterator[T]:
        yield from self.first
        yield from self.last


@dataclass(slots=True)
class Scanned:
    """What one file says."""

    name: str
    size: int = 0
    last_line: int = 0  # of those that are not blank
    benchmarks: mllog.Benchmarks = field(default_factory=mllog.Benchmarks)
    lanes: assemble.Lanes = field(default_factory=lambda: assemble.Lanes(""))
    facts: "Ends[tuple[int, Said]]" = field(default_factory=lambda: Ends())
    signs: "Ends[Sign]" = field(default_factory=lambda: Ends())
    open_bar: bool = False  # the file ends with a bar that was not ended
    open_traceback: bool = False  # the block ended within one
    walked: int = 0  # up to here, tracebacks have been followed to their ends
    bar: tuple[int, int] | None = None
    problems: list[Problem] = field(default_factory=list)
    spans: dict[str | int, list[int]] = field(default_factory=dict)  # run: first, end byte

    def complain(self, line: int, text: str, reason: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(Where(self.name, line), text[:200], reason))


def scan(
    name: str,
    stream: BinaryIO,
    launches: record.Launches,
    formats: Sequence[Reader] = (),
) -> Scanned:
    found = Scanned(name)
    found.lanes.file = name
    whole = list_if_small(stream)
    numbers = [1]  # of the first line of each block
    for block in whole or lines.blocks(stream):
        numbers.append(read_records(found, block, numbers[-1], launches))
        found.size = block.start + len(block.data)
        found.last_line = last_line(block, numbers[-1]) or found.last_line
        found.open_bar = block.half and b"\r" in block.data[block.data.rfind(b"\n") + 1 :]
        if block.cut and b"\r" not in block.data[: lines.LONGEST]:  # a bar's states are no loss
            reason = f"{block.cut} bytes of an overlong line were left out"
            found.complain(numbers[-2], "", reason)
    gaps = between(found.spans.values(), found.size)
    if gaps:
        if not whole:
            stream.seek(0)
        again = zip(whole or lines.blocks(stream), numbers, strict=False)
        read_gaps(found, again, gaps, formats)
    return found


def last_line(block: lines.Block, next_number: int) -> int | None:
    """The number of the block's last line that is not blank."""
    for tail in (block.data[-1000:], block.data):
        text = len(tail.rstrip())
        if text:
            return next_number - tail.count(b"\n", text)
    return None


def list_if_small(stream: BinaryIO) -> list[lines.Block]:
    """All blocks of a file of at most one block; else none, and the stream at its beginning."""
    data = stream.read(lines.BLOCK + 1)
    stream.seek(0)
    return list(lines.blocks(stream)) if len(data) <= lines.BLOCK else []


def read_records(found: Scanned, block: lines.Block, number: int, launches: record.Launches) -> int:
    """Read the tagged lines of a block that begins with line `number`; the next block's number."""
    data, at, counted = block.data, 0, 0
    while (tag := data.find(mllog.TAG, at)) >= 0:
        end = data.find(b"\n", tag)
        end = len(data) if end < 0 else end
        again = data.find(mllog.TAG, tag + 1, end)
        at = end if again < 0 else again
        try:
            event, payload = mllog.event_of(data[tag:at])
        except mllog.BadLineError as error:
            number, counted = number + data.count(b"\n", counted, tag), tag
            found.complain(number, data[tag : tag + 120].decode("utf-8", "replace"), str(error))
            continue
        of_course, said = event.get("namespace") == "course", event.get("key")
        if not of_course and (type(said) is not str or said not in mllog.KEYS):
            continue
        number, counted = number + data.count(b"\n", counted, tag), tag
        key: str | int
        if of_course:
            key = record.take(launches, event, payload, Where(found.name, number))
        else:
            mllog.take(found.benchmarks, event, found.name, number)
            key = len(found.benchmarks.runs)
        past = block.start + end + 1  # the line's own end belongs to it, if it has one
        span = found.spans.get(key)
        if span is None:
            found.spans[key] = [block.start + tag, past]
        else:
            span[1] = past
    return number + data.count(b"\n", counted)


def between(spans: Iterable[list[int]], size: int) -> list[tuple[int, int]]:
    """The parts of a file, as byte ranges, that no record's run covers."""
    gaps, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            gaps.append((at, start))
        at = max(at, end)
    if size > at:
        gaps.append((at, size))
    return gaps


def read_gaps(
    found: Scanned,
    blocks: Iterable[tuple[lines.Block, int]],
    gaps: list[tuple[int, int]],
    formats: Sequence[Reader],
) -> None:
    readers = (*formats, *READERS)
    own = ((tag.encode(), FORMAT) for reader in formats for tag in reader.tags)
    anchors = (*ANCHORS, *own)
    for block, number in blocks:
        end = block.start + len(block.data)
        for start, stop in gaps:
            if start < end and stop > block.start:
                first, last = max(0, start - block.start), min(len(block.data), stop - block.start)
                read_part(found, block, number, first, last, anchors, readers)


def read_part(
    found: Scanned,
    block: lines.Block,
    number: int,
    first: int,
    last: int,
    anchors: Sequence[tuple[bytes, int]],
    readers: Sequence[Reader],
) -> None:
    data, counted = block.data, 0
    knows: Reader | None = None  # who understood the line before: mostly it does again
    if found.open_traceback:
        end_traceback(found, data, first, number)
    for start, (end, kinds) in sorted(hits(data, first, last, anchors).items()):
        number += data.count(b"\n", counted, start)
        counted = start
        raw = data[start:end]
        label, text = lines.split_label(lines.clean(raw))
        if len(text) > WIDEST:
            text = text[-WIDEST:] if b"\r" in raw else text[:WIDEST]
        if kinds & FORMAT:
            knows = read_formats(found, text, label, number, readers, knows)
            if "%|" in text:
                found.bar = bars.read(text) or found.bar
        if kinds & FACT:
            said = run_facts.read(text)
            if said:
                found.facts.append((number, said))
        if kinds & SIGN:
            sign = outcome.read_sign(text, Where(found.name, number))
            if sign:
                found.signs.append(sign)
            elif outcome.TRACEBACK in text and block.start + start >= found.walked:
                found.open_traceback = True
                at = end_traceback(found, data, end + 1, number + 1)
                found.walked = block.start + at


def read_formats(
    found: Scanned,
    text: str,
    label: int | None,
    number: int,
    readers: Sequence[Reader],
    last: Reader | None,
) -> Reader | None:
    """Show a line to the reader that knew the last one, else to all; who has understood it."""
    if last is not None:
        said = last.read(text)
        if said and "opens" not in said:
            assemble.take(found.lanes, last, label, number, said)
            return last
    knows = None
    for reader in readers:
        if knows is not None and reader is plain.READER:
            break
        for tag in reader.tags:
            if tag in text:
                said = reader.read(text)
                if said:
                    knows = reader
                    assemble.take(found.lanes, reader, label, number, said)
                break
    return knows


def hits(
    data: bytes, first: int, last: int, anchors: Sequence[tuple[bytes, int]]
) -> dict[int, tuple[int, int]]:
    """The lines with an anchor in them: start -> end and what the anchors are for."""
    lines_: dict[int, tuple[int, int]] = {}
    for anchor, kind in anchors:
        at = data.find(anchor, first, last)
        while at >= 0:
            start = max(data.rfind(b"\n", first, at) + 1, first)
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            lines_[start] = end, lines_.get(start, (0, 0))[1] | kind
            at = data.find(anchor, end, last)
    return lines_


def end_traceback(found: Scanned, data: bytes, at: int, number: int) -> int:
    """From within a traceback to the line that names the exception, if it has one: frames are
    indented, and the tracebacks of several ranks may run through each other. Where it ended."""
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        _, text = lines.split_label(lines.clean(data[at:end][:WIDEST]))
        if text and not text[0].isspace() and not text.startswith(outcome.TRACEBACK):
            found.open_traceback = False
            sign = outcome.exception_sign(text, Where(found.name, number))
            if sign:
                found.signs.append(sign)
            return at
        at, number = end + 1, number + 1
    return at
