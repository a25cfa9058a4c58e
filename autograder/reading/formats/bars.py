"""Read tqdm's bars if nothing else shows a program's progress.

100%|██████████| 37613/37613 [09:07<00:00, 68.69it/s]
"""

import re
from dataclasses import dataclass, replace

# Bars of loading, downloading or preprocessing before a training say nothing about the training.
PREPARING = re.compile(
    r"(?i)(?:load|fetch|extract|tokeni|download|prepar|pre-?process|cach|index|copy|read|map|build|filter"
    r"|generating|sanity|shards|resolving|unpack|pack)\w{0,12}\b[^%|]{0,80}$"
)
BAR = re.compile(r"(\d{1,3})%\|[^|]{0,400}\| ?(\d{1,15})/(\d{1,15}) \[([\d:]{0,12})")
# A bar of one part; other bars may follow.
OF_A_PART = re.compile(r"(?i)epoch|fold|\b\d{1,6} ?/ ?\d{1,6}\b")
FORMAT = "bars"
TAG = b"%|"


@dataclass(frozen=True, slots=True)
class Bar:
    """The state of a loop's progress bar, and whether it is (or may be) one of several bars."""

    at: int
    of: int
    clock: str
    one_of_many: bool = False


def read(line: str, before: Bar | None) -> Bar | None:
    """Return the last progress bar on the line that may belong to a training run.

    `before` is the bar of the previous line.
    """
    bars = list(BAR.finditer(line))
    words = line[max(0, bars[-1].start() - 100) : bars[-1].start()] if bars else ""
    if not bars or PREPARING.search(words):
        return None
    bar = Bar(int(bars[-1][2]), int(bars[-1][3]), bars[-1][4])
    if OF_A_PART.search(words) or (before is not None and is_another(before, bar)):
        return replace(bar, one_of_many=True)
    return bar


def is_another(before: Bar, bar: Bar) -> bool:
    """Return whether this bar is new, and not a continuation or repetition of `before`."""
    if before.one_of_many or bar.of != before.of or bar.at < before.at:
        return True
    return bar.at == before.at == bar.of and bar.clock != before.clock
