"""Split a job's output into whole lines in bounded memory, and clean a line for reading.

A file is read in blocks. A reader searches a block for its tags and cleans only the lines that have
one, because most lines are of no interest to any reader.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

BLOCK = 1 << 18  # bytes per read; memory stays at a few times this, whatever the file's size
LONGEST = 1 << 16  # of a longer line only the end is kept, which has the final state of a bar

# Labels of `srun -l`, Open MPI's --tag-output, horovodrun, torchrun and torch's tracebacks, in this
# order.
LABEL = re.compile(
    r"\s*(?:(?P<srun>\d{1,6}):(?: |$)"
    r"|(?:\w[\w:. +-]{8,36})?\[\d{1,6},(?P<mpi>\d{1,6})\]<std(?:out|err)>: ?"
    r"|\[(?P<horovod>\d{1,6})\]<std(?:out|err)>: ?"
    r"|\[(?:default|rank)(?P<torch>\d{1,6})\]: ?)"
)
OF_TORCH = re.compile(r"\[rank\d{1,6}\]: ?")  # in a traceback, below the launcher's own label
ANSI = re.compile(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,16}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\^_])"
)
DRAWN = re.compile(rb"[\r\b\x1b]")
BACKSPACES = re.compile(rb"\x08+")


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file."""

    data: bytes
    start: int  # position of the first byte in the file, not counting NULs
    cut: int = 0  # bytes left out before the block: its first line is only the end of a line


def blocks(stream: BinaryIO, size: int = BLOCK, longest: int = LONGEST) -> Iterator[Block]:
    """Yield the stream in blocks of whole lines, without NUL bytes."""
    start, rest, cut = 0, b"", 0
    while chunk := stream.read(size):
        if b"\0" in chunk:
            chunk = chunk.translate(None, b"\0")
        end = chunk.rfind(b"\n") + 1
        if not end:
            rest += chunk
            if len(rest) > longest:
                cut += len(rest) - longest
                rest = rest[-longest:]
            continue
        data = b"".join((rest, memoryview(chunk)[:end]))  # copied once
        yield Block(data, start, cut)
        start += len(data)
        rest, cut = chunk[end:], 0
    if rest:
        yield Block(rest, start, cut)


def clean(line: bytes) -> str:
    """Return a line as it finally appears on a terminal.

    Carriage returns, backspaces and colours are applied.
    """
    if b"\r" in line:
        visible = line.rstrip(b"\r\n \t")
        line = visible[visible.rfind(b"\r") + 1 :]
    if b"\x08" in line:
        line = erase(line)
    if b"\x1b" in line:
        line = ANSI.sub(b"", line)
    return line.decode("utf-8", "replace").rstrip()


def erase(line: bytes) -> bytes:
    """Apply each backspace by removing the character before it."""
    visible, at = bytearray(), 0
    for run in BACKSPACES.finditer(line):
        visible += line[at : run.start()]
        del visible[max(0, len(visible) - (run.end() - run.start())) :]
        at = run.end()
    return bytes(visible + line[at:])


def split_label(line: str) -> tuple[int | None, str]:
    """Return the rank in a launcher's label, and the line without the label."""
    label = LABEL.match(line)
    if label is None:
        return None, line
    inner = OF_TORCH.match(line, label.end())
    return int(label[label.lastgroup or 0]), line[(inner or label).end() :]


def shown(raw: bytes) -> tuple[int | None, str]:
    """Return the rank in a launcher's label, and the line as a terminal would show it.

    A launcher writes its label once, even for a line that is redrawn many times.
    """
    if raw[:1].isalpha() and not DRAWN.search(raw):  # most lines
        return None, raw.decode("utf-8", "replace").rstrip()
    label, text = split_label(clean(raw))
    if label is None and b"\r" in raw:
        label, _ = split_label(raw[:40].decode("ascii", "replace"))
    return label, text
