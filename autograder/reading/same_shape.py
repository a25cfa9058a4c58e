"""Steps of one epoch, line after line: all but the first two and the last are jumped over.

Of an epoch's steps the last one counts, so thousands of lines between are of no use. They are
jumped over where nothing is lost by it: they follow each other without other lines between, say the
same words with other numbers, speak of the same epoch, and their steps count up.
"""

import re
from functools import lru_cache

from autograder.reading.line_facts import LineFacts

NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
ANY_NUMBER = rb"\d{1,20}+(?:\.\d{1,20}+)?+(?:[eE][-+]?\d{1,3}+)?+"
GROUP = rb"(\d{1,9}+)(?![.\deE])"
BLANKS = re.compile(rb"[ \t]+")
LONGEST = 400  # bytes of such a line
SHOWN_ANEW = (b"\r", b"\b", b"\x1b")
REPLACED = {"train_loss", "train_accuracy", "val_loss", "val_accuracy", "seconds"}


def only_replaced(facts: LineFacts) -> bool:
    """Whether a step says nothing that the next one does not replace. Rates of steps are kept, so
    it has to be asked before they are taken from the line."""
    return (
        facts.step is not None
        and facts.number is not None
        and facts.run is None
        and not facts.loose
        and facts.numbers.keys() <= REPLACED
        and None not in facts.numbers.values()
    )


def goes_on(before: LineFacts, now: LineFacts) -> bool:
    """Whether two lines are steps of one epoch that count up."""
    return (
        before.number == now.number
        and before.part == now.part
        and (before.step or 0) < (now.step or 0)
        and before.numbers.keys() == now.numbers.keys()
    )


def last_alike(data: bytes, line: bytes, facts: LineFacts, at: int, limit: int) -> int:
    """Where the last of the lines begins that go on as `line` does, from `at` on, before `limit`;
    `at` itself, if there is none."""
    if len(line) > LONGEST or any(sign in line for sign in SHOWN_ANEW):
        return at
    numbers = NUMBER.findall(line)
    epoch, step = b"%d" % (facts.number or 0), facts.step or 0
    try:
        first = numbers.index(epoch)
        second = next(
            place
            for place, number in enumerate(numbers)
            if place > first and number.isdigit() and int(number) == step
        )
    except (ValueError, StopIteration):
        return at
    pattern = shape(tuple(NUMBER.split(line)), first, second)
    found, last = pattern.match(data, at, limit), at
    while found is not None:
        number, steps = found.groups()
        if number != epoch or int(steps) <= step:
            break
        step, last = int(steps), found.start()
        found = pattern.match(data, found.end(), limit)
    return last


@lru_cache(maxsize=200)
def shape(words: tuple[bytes, ...], epoch: int, step: int) -> re.Pattern[bytes]:
    """A line with these words, up to and with its end; its epoch and its step are the groups."""
    pieces = []
    for place, word in enumerate(words):
        pieces += [b"[ \t]++".join(map(re.escape, BLANKS.split(word)))]
        if place < len(words) - 1:
            pieces.append(GROUP if place in (epoch, step) else ANY_NUMBER)
    return re.compile(b"".join(pieces) + rb"\r?\n")
