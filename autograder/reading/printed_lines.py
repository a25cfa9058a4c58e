"""The lines outside of records: those with one of a few anchors are cleaned and shown to the
readers of all formats."""

from collections.abc import Iterable, Sequence

from autograder.reading import lines, outcome
from autograder.reading.formats import (
    bars,
    huggingface,
    keras,
    lightning,
    plain,
    run_facts,
    timm,
    torch_examples,
)
from autograder.reading.formats.reader import Reader
from autograder.reading.lanes import add_line
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Where

# In the order of trust, where several understand the same lines.
READERS: tuple[Reader, ...] = (
    keras.READER,
    *torch_examples.READERS,
    timm.READER,
    huggingface.READER,
    lightning.READER,
    plain.READER,
)
FORMAT, FACT, END = 1, 2, 4
# Every tag of a reader has one of these inside: few enough to search a whole file for.
ANCHORS: tuple[tuple[bytes, int], ...] = (
    *((anchor, FORMAT) for anchor in (b"poch", b"POCH", b"oss: ", b"cc@1", b"rec@1", bars.TAG)),
    *((anchor, FACT) for anchor in run_facts.ANCHORS),
    *((anchor, END) for anchor in outcome.ANCHORS),
)
WIDEST = 2000  # characters of a line that the readers see: patterns stay quick on any line


def read_gaps(
    file: ScannedFile,
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
                read_part(file, block, number, first, last, anchors, readers)


def read_part(
    file: ScannedFile,
    block: lines.Block,
    number: int,
    first: int,
    last: int,
    anchors: Sequence[tuple[bytes, int]],
    readers: Sequence[Reader],
) -> None:
    data, counted = block.data, 0
    knows: Reader | None = None  # who understood the line before: mostly it does again
    if file.open_traceback:
        end_traceback(file, data, first, number)
    for start, (end, kinds) in sorted(hits(data, first, last, anchors).items()):
        number += data.count(b"\n", counted, start)
        counted = start
        raw = data[start:end]
        label, text = lines.split_label(lines.clean(raw))
        if len(text) > WIDEST:
            text = text[-WIDEST:] if b"\r" in raw else text[:WIDEST]
        if kinds & FORMAT:
            knows = read_formats(file, text, label, number, readers, knows)
            if "%|" in text:
                file.bar = bars.read(text) or file.bar
        if kinds & FACT:
            facts = run_facts.read(text)
            if facts:
                file.facts.append((number, facts))
        if kinds & END:
            ending = outcome.read(text, Where(file.name, number))
            if ending:
                file.ends.append(ending)
            elif (
                outcome.TRACEBACK in text
                and block.start + start >= file.walked
                and outcome.IGNORED not in data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start]
            ):
                file.open_traceback = True
                at = end_traceback(file, data, end + 1, number + 1)
                file.walked = block.start + at


def read_formats(
    file: ScannedFile,
    text: str,
    label: int | None,
    number: int,
    readers: Sequence[Reader],
    last: Reader | None,
) -> Reader | None:
    """Show a line to the reader that knew the last one, else to all; who has understood it."""
    if last is not None:
        facts = last.read(text)
        if facts and not facts.opens:
            add_line(file.lanes, last, label, number, facts)
            return last
    knows = None
    for reader in readers:
        if knows is not None and reader is plain.READER:
            break
        for tag in reader.tags:
            if tag in text:
                facts = reader.read(text)
                if facts:
                    knows = reader
                    add_line(file.lanes, reader, label, number, facts)
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


def end_traceback(file: ScannedFile, data: bytes, at: int, number: int) -> int:
    """From within a traceback to the line that names the exception, if it has one: frames are
    indented, and the tracebacks of several ranks may run through each other. Where it ended."""
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        _, text = lines.split_label(lines.clean(data[at:end][:WIDEST]))
        if text and not text[0].isspace() and not text.startswith(outcome.TRACEBACK):
            file.open_traceback = False
            ending = outcome.read_exception(text, Where(file.name, number))
            if ending:
                file.ends.append(ending)
            return at
        at, number = end + 1, number + 1
    return at
