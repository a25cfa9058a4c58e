"""Read the lines outside records.

Only lines with one of a few anchors are cleaned and passed to the readers of all formats.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heapreplace

from autograder.reading import lines, outcome, same_shape, stamps
from autograder.reading.formats import (
    bars,
    huggingface,
    keras,
    lightning,
    run_facts,
    timm,
    torch_examples,
)
from autograder.reading.formats.plain import plain, steps, tables
from autograder.reading.formats.reader import Reader
from autograder.reading.lane_lines import add_line
from autograder.reading.line_facts import LineFacts
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Where

# In the order of trust, for lines that several readers understand.
READERS: tuple[Reader, ...] = (
    keras.READER,
    *torch_examples.READERS,
    timm.READER,
    huggingface.READER,
    lightning.READER,
    tables.READER,
    plain.READER,
    steps.READER,
)
FORMAT, FACT, END = 1, 2, 4
UNSURE = (plain.READER, steps.READER)  # only for lines that no other reader understood
# Every tag of a reader contains one of these. They are few, so a whole file can be searched.
ANCHORS: tuple[tuple[bytes, int], ...] = (
    *((tag.encode(), FORMAT) for tag in plain.READER.tags),
    (bars.TAG, FORMAT),
    (b"Train: [", FORMAT),  # steps of an epoch, which may have no other facts
    *((anchor, FACT) for anchor in run_facts.ANCHORS),
    *((anchor, END) for anchor in outcome.ANCHORS),
)
LETTERS = bytes(c if chr(c).isalpha() and c < 128 else 32 for c in range(256))
BETWEEN_ROWS = 3  # number of other lines allowed between two rows
WIDEST = 2000  # characters of a line that readers see, so that patterns stay quick on any line


def read_gaps(
    file: ScannedFile,
    blocks: Iterable[tuple[lines.Block, int]],
    gaps: list[tuple[int, int]],
    formats: Sequence[Reader],
) -> None:
    readers = (*formats, *READERS)
    own = ((tag.encode(), FORMAT) for reader in formats for tag in reader.tags)
    anchors = [
        (anchor, kind, max(anchor.translate(LETTERS).split(), key=len, default=b""))
        for anchor, kind in (*ANCHORS, *own)
    ]
    for block, number in blocks:
        end = block.start + len(block.data)
        for start, stop in gaps:
            if start < end and stop > block.start:
                part = max(0, start - block.start), min(len(block.data), stop - block.start)
                read_part(file, block, number, part, anchors, readers)


def read_part(
    file: ScannedFile,
    block: lines.Block,
    number: int,
    part: tuple[int, int],
    anchors: Sequence[tuple[bytes, int, bytes]],
    readers: Sequence[Reader],
) -> None:
    """Read the bytes of a block between two positions. The block begins with line `number`."""
    data, counted = block.data, 0
    first, last = part
    # The reader that understood the line before; usually it reads this one too.
    knows: Reader | None = None
    understood: LineFacts | None = None  # its facts, if this line follows it directly
    if file.open_traceback:
        end_traceback(file, data, first, number)
    if file.table:
        file.tables_to = block.start + read_table(file, data, first, last, number)
    hits = Hits(data, first, last, anchors)
    while (line := hits.next()) is not None:
        start, end, kinds = line
        number += data.count(b"\n", counted, start)
        if understood is not None and data.find(b"\n", counted, start) != start - 1:
            understood = None
        counted = start
        raw = data[start:end]
        label, text = lines.shown(raw)
        if len(text) > WIDEST:
            text = text[-WIDEST:] if b"\r" in raw else text[:WIDEST]
        before, understood = understood, None
        if kinds & FORMAT:
            knows, understood = read_formats(file, text, label, number, readers, knows)
            new = knows is None and block.start + start >= file.tables_to
            if new and (table := tables.head(text)) is not None:
                file.table, file.missed = table, 0
                file.tables_to = block.start + read_table(file, data, end + 1, last, number + 1)
            if "%|" in text:
                file.bar = bars.read(text, file.bar) or file.bar
        if kinds & FACT:
            facts = run_facts.read(text)
            if facts:
                understood = None
                file.facts.append((number, facts))
        if kinds & END:
            understood = None
            hits.go_to(read_end(file, data, (start, end), number, text))
        if before and understood and label is None and same_shape.goes_on(before, understood):
            hits.go_to(same_shape.last_alike(data, raw, understood, end + 1, last))


def read_end(file: ScannedFile, data: bytes, line: tuple[int, int], number: int, text: str) -> int:
    """Read a line that may report an end or begin a traceback, and return where to continue.

    The lines inside a traceback are program text and say nothing about training.
    """
    start, end = line
    if not text.startswith(outcome.TRACEBACK):
        ending = outcome.read(text, Where(file.name, number))
        if ending:
            file.ends.append(ending)
            return end
    if outcome.TRACEBACK in text:
        before = data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start]
        if not outcome.IGNORED.search(before[:300]):
            file.open_traceback = True
            return end_traceback(file, data, end + 1, number + 1)
    return end


def read_formats(
    file: ScannedFile,
    text: str,
    label: int | None,
    number: int,
    readers: Sequence[Reader],
    last: Reader | None,
) -> tuple[Reader | None, LineFacts | None]:
    """Pass a line to the previous line's reader or, if that fails, to all readers.

    Return the reader that understood the line, and its facts if the next line replaces them.
    """
    if last is not None and last not in UNSURE:
        facts = last.read(text)
        if facts and not facts.opens and not facts.loose:
            step = facts if same_shape.only_replaced(facts) else None
            add(file, last, label, number, facts, text)
            return last, step
    knows, step = None, None
    names_epoch = "poch" in text or "POCH" in text
    for reader in readers:
        if knows is not None and reader in UNSURE:
            break
        if reader is plain.READER and not (names_epoch or may_be_below(file, label)):
            continue
        for tag in reader.tags:
            if tag in text:
                facts = reader.read(text)
                if facts:
                    replaced = knows is None and same_shape.only_replaced(facts)
                    if add(file, reader, label, number, facts, text) or not facts.loose:
                        knows, step = reader, facts if replaced else None
                break
    if names_epoch and knows is None and plain.EPOCH.search(text):
        file.unread = True
    return knows, step


def may_be_below(file: ScannedFile, label: int | None) -> bool:
    """Return whether a line that names no epoch can still belong to one."""
    lanes = file.lanes.open
    return bool(lanes.get((plain.READER.format, label)) or lanes.get((keras.READER.format, label)))


def add(
    file: ScannedFile,
    reader: Reader,
    label: int | None,
    number: int,
    facts: LineFacts,
    text: str,
) -> bool:
    if facts.opens or (facts.number is not None and facts.step is None):
        facts.stamp = stamps.read(text)
    facts.text = text
    added = add_line(file.lanes, reader, label, number, facts)
    if not added and facts.number is None and facts.run and facts.run.workers:
        file.facts.append((number, facts.run))  # printed before the first epoch
    return added


def read_table(file: ScannedFile, data: bytes, at: int, last: int, number: int) -> int:
    """Read the rows below a table's header, and return where they end.

    A few other lines may be in between: bars, warnings, or the head again from other ranks.
    """
    table = file.table
    while table is not None and at < last:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        label, text = lines.split_label(lines.clean(data[at:end][-WIDEST:]))
        facts = tables.row(table, text)
        if facts is not None:
            file.missed = 0
            reader = steps.READER if table.of_steps else tables.READER
            add(file, reader, label, number, facts, text)
        elif text.strip() and tables.head(text) != table:
            file.missed += 1
        if file.missed > BETWEEN_ROWS:
            table = file.table = None
        at, number = end + 1, number + 1
    return at


class Hits:
    """The lines that contain an anchor, in order, found in a single pass over part of a block."""

    def __init__(
        self,
        data: bytes,
        first: int,
        last: int,
        anchors: Sequence[tuple[bytes, int, bytes]],
    ) -> None:
        """Search only for the anchors whose words occur in the data."""
        self.data, self.first, self.last = data, first, last
        self.heap: list[tuple[int, bytes, int]] = []
        words = b" ".join(set(data[first:last].translate(LETTERS).split()))
        for anchor, kind, word in anchors:
            if word in words and (at := data.find(anchor, first, last)) >= 0:
                self.heap.append((at, anchor, kind))
        heapify(self.heap)

    def next(self) -> tuple[int, int, int] | None:
        """Return the start and end of the next line with an anchor, and the anchors' kinds."""
        if not self.heap:
            return None
        at = self.heap[0][0]
        start = max(self.data.rfind(b"\n", self.first, at) + 1, self.first)
        end = self.data.find(b"\n", at)
        end = len(self.data) if end < 0 else end
        return start, end, self.go_to(end)

    def go_to(self, place: int) -> int:
        """Skip the anchors before `place`, and return their kinds."""
        heap, kinds = self.heap, 0
        while heap and heap[0][0] < place:
            _, anchor, kind = heap[0]
            kinds |= kind
            at = self.data.find(anchor, place, self.last)
            if at >= 0:
                heapreplace(heap, (at, anchor, kind))
            else:
                heappop(heap)
        return kinds


def end_traceback(file: ScannedFile, data: bytes, at: int, number: int) -> int:
    """Follow a traceback to the line with its exception, and return where the traceback ends.

    Frames are indented, and tracebacks of several ranks may be mixed.
    """
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        _, text = lines.shown(data[at:end][:WIDEST])
        if text and not text[0].isspace() and not text.startswith(outcome.TRACEBACK):
            file.open_traceback = False
            ending = outcome.read_exception(text, Where(file.name, number))
            if ending:
                file.ends.append(ending)
            return at
        at, number = end + 1, number + 1
    return at
