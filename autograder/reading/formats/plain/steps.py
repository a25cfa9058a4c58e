"""Read step lines without epochs: the speed, and the last loss and accuracy of a batch.

Step 10: Minibatch Loss= 2.1675, Training Accuracy= 0.500, 917 Examples/sec
step 990, training accuracy 0.998
iter 500/2000 | loss 1.31 | 12034.5 samples/s
"""

import re

from autograder.reading.formats.plain.named_values import rate_in, values
from autograder.reading.formats.plain.plain import EPOCH, STEP, TAGS
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import LineFacts
from autograder.reading.printed_numbers import NUMBER, printed
from autograder.records import Number

FORMAT = "steps"
STEP_TIME = re.compile(
    r"(?i)\b(?:(?:step|iteration|iter|batch) time|time(?: per |/)(?:step|iteration|iter|batch))"
    rf"(?: ?\((ms|s)\))?\s?[:=]\s{{0,4}}({NUMBER})\s?(ms|s\b)?"
)
BATCH = re.compile(r"(?i)\bglobal[ _]batch[ _]size\s?[:=]\s{0,8}(\d{1,9})\b")


def read(line: str) -> LineFacts | None:
    """Return the facts of a step. All steps count as steps of one epoch that does not end."""
    place = STEP.search(line)
    if place is None or EPOCH.search(line):
        return None
    named = values(line, place.end())
    named.numbers.pop("seconds", None)
    if "throughput" not in named.numbers:
        rate = rate_in(line[: place.start()]) or rate_of_step(line)
        if rate is not None:
            named.numbers["throughput"] = rate
    if not named.numbers:
        return None
    steps = int(place[2]) if place[2] else None
    return named.facts(1, step=int(place[1]), steps=steps, rates=True)


def rate_of_step(line: str) -> Number | None:
    """Return samples per second, from the time per step and the global batch.

    For example `elapsed time per iteration (ms): 1234.5 | global batch size: 512`.
    """
    took, batch = STEP_TIME.search(line), BATCH.search(line)
    each = took and printed(took[2], 1e-3 if (took[1] or took[3]) == "ms" else 1.0)
    if not each or not batch or each.value <= 0:
        return None
    rate = int(batch[1]) / each.value
    return Number(rate, rate * each.half_width / each.value)


READER = Reader(FORMAT, TAGS, read)
