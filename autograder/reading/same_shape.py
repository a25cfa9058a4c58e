"""Skip the steps of an epoch, except the first two and the last.

Only the last step of an epoch counts, so thousands of lines in between are not needed. They are
skipped only if they follow each other without other lines in between, differ only in their numbers,
belong to the same epoch, and have increasing step numbers.
"""

import re
from functools import lru_cache

from autograder.reading.line_facts import LineFacts
from autograder.reading.lines import DRAWN

NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
ANY_NUMBER = rb"\d{1,20}+(?:\.\d{1,20}+)?+(?:[eE][-+]?\d{1,3}+)?+"
GROUP = rb"(\d{1,9}+)(?![.\deE])"
BLANKS = re.compile(rb"[ \t]+")
LONGEST = 400  # bytes per line
REPLACED = {"train_loss", "train_accuracy", "val_loss", "val_accuracy", "seconds"}


def only_replaced(facts: LineFacts) -> bool:
    """Return whether the next step replaces everything in this one.

    Call this before a step's throughput is moved from the facts to the epoch.
    """
    return (
        facts.step is not None
        and facts.number is not None
        and facts.run is None
        and not facts.loose
        and facts.numbers.keys() <= REPLACED
        and None not in facts.numbers.values()
    )


def goes_on(before: LineFacts, now: LineFacts) -> bool:
    """Return whether two lines are steps of the same epoch with increasing step numbers."""
    return (
        before.number == now.number
        and before.part == now.part
        and (before.step or 0) < (now.step or 0)
        and before.numbers.keys() == now.numbers.keys()
    )


def last_alike(data: bytes, line: bytes, facts: LineFacts, at: int, limit: int) -> int:
    """Return where the last of the consecutive lines like `line` begins; `at` if there are none.

    Search from `at` to `limit`.
    """
    if len(line) > LONGEST or DRAWN.search(line):
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
    match, last = pattern.match(data, at, limit), at
    while match is not None:
        number, steps = match.groups()
        if number != epoch or int(steps) <= step:
            break
        step, last = int(steps), match.start()
        match = pattern.match(data, match.end(), limit)
    return last


@lru_cache(maxsize=200)
def shape(words: tuple[bytes, ...], epoch: int, step: int) -> re.Pattern[bytes]:
    """Return a pattern for whole lines with these words.

    Its groups capture the epoch and the step.
    """
    pieces = []
    for place, word in enumerate(words):
        pieces += [b"[ \t]++".join(map(re.escape, BLANKS.split(word)))]
        if place < len(words) - 1:
            pieces.append(GROUP if place in (epoch, step) else ANY_NUMBER)
    return re.compile(b"".join(pieces) + rb"\r?\n")
