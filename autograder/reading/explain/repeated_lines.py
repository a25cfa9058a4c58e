"""Lines that a program prints again and again with other numbers, found in whatever it printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from autograder.reading import lines

MOST_BYTES = 8_000_000  # of a file: what repeats, repeats within these
MOST_GROUPS, MOST_OF_A_GROUP = 3_000, 300
LONGEST = 250  # characters of a line that anybody reads
SLOT = "\0"
CLOCK = r"\d{1,5}:\d{2}(?::\d{2})?(?:\.\d{1,9})?(?![:\d])"
# Digits within a word (gpt2, Acc@1, v1.2) are a part of its name.
NUMBER = re.compile(
    r"(?:(?<![\w@.])|(?<=[Ee]poch))"
    rf"(?:{CLOCK}|(?:(?<![\w)\]])[-+])?(?:\d{{1,30}}(?:\.\d{{1,30}})?|\.\d{{1,30}})"
    r"(?:[eE][-+]?\d{1,3}(?!\d))?|(?:[nN]a[nN]|-?[iI]nf)(?![A-Za-z]))"
)


@dataclass(slots=True)
class Group:
    """Lines that differ in their numbers alone."""

    texts: list[str]  # what stands around the numbers: one more than there are numbers
    line: int  # the first one's
    example: str
    count: int = 0
    values: list[list[str]] = field(default_factory=list)  # of each line, as far as they are kept

    def column(self, place: int) -> list[str]:
        return [row[place] for row in self.values]

    def changes(self, place: int) -> bool:
        return len(set(self.column(place))) > 1


def groups(stream: BinaryIO) -> list[Group]:
    """In the order of their first lines."""
    found: dict[str, Group] = {}
    for number, text in short_lines(stream):
        values = NUMBER.findall(text)
        if not values:
            continue
        skeleton = NUMBER.sub(SLOT, text)
        key = " ".join(skeleton.split())
        group = found.get(key)
        if group is None:
            if len(found) >= MOST_GROUPS:
                continue
            group = found[key] = Group(skeleton.split(SLOT), number, text)
        group.count += 1
        if len(group.values) < MOST_OF_A_GROUP:
            group.values.append(values)
    return list(found.values())


def short_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Line numbers and lines as a terminal shows them, without the labels of launchers."""
    number = 0
    for block in lines.blocks(stream):
        for raw in block.data.split(b"\n")[: None if block.half else -1]:
            number += 1
            if len(raw) < 20 * LONGEST and b":::ML" not in raw:
                _, text = lines.shown(raw)
                if len(text) <= LONGEST:
                    yield number, text.replace(SLOT, "")
        if block.start > MOST_BYTES:
            return
