"""Lines that students write themselves: an epoch's number, and names with values after them.

Epoch: 5 | Training Loss:  0.847 | Training Accuracy:  70.098
Epoch [3/10], Step [100/600], Loss: 0.1234, val_acc=0.91, time=12.3s
Epoch 1/3.. Step 5.. Train loss: 1.090.. Test accuracy: 0.702
"""

import re

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import (
    EpochNumber,
    EpochNumbers,
    LineFacts,
    RunFacts,
    RunNumber,
    RunNumbers,
)
from autograder.reading.printed_numbers import VALUE, fraction, printed
from autograder.records import Number

EPOCH = re.compile(
    r"(?i)(?<![a-z])epoch(?: no\.?)? {0,2}[:#=\[(]?\s{0,3}(\d{1,6})"
    r"(?:\s?(?:/|of)\s?(\d{1,6}))?(?![\d.%]\d)"
)
STEP = re.compile(r"(?i)(?<![a-z])(?:step|batch|iter|iteration) {0,2}[:#=\[(]?\s{0,3}(\d{1,9})")
# A value and its unit; the name stands before, up to the end of the value before it.
VALUE_AND_UNIT = re.compile(
    rf"\s{{0,4}}[:=]\s{{0,8}}({VALUE})\s?(%|seconds|secs|sec|minutes|mins|min|ms|s)?(?![A-Za-z])"
)
NOT_NAME = re.compile(r"[^\w@ -]+")
TOOK = re.compile(rf"(?i)\b(?:took|in)[ :]{{1,3}}({VALUE}) ?(seconds|secs|sec|s|minutes|min)\b")
UNITS = {"ms": 1e-3, "minutes": 60.0, "mins": 60.0, "min": 60.0}
LOSSES = ("loss", "cross entropy", "cost")
ACCURACIES = ("accuracy", "acc", "acc 1", "acc1", "acc@1", "top1", "top 1 accuracy")
TRAIN = ("", "train ", "training ", "avg ", "average ", "mean ")
CHECK = ("val ", "valid ", "validation ", "eval ", "evaluation ")
TEST = ("test ", "testing ")  # a check after each epoch, and the last one is the test, too


def all_names() -> dict[str, tuple[EpochNumber, RunNumber | None]]:
    """Each name that stands before a value, and what the value is of the epoch and of the run."""
    meanings: tuple[tuple[tuple[str, ...], tuple[str, ...], EpochNumber, RunNumber | None], ...] = (
        (TRAIN, LOSSES, "train_loss", None),
        (CHECK, LOSSES, "val_loss", None),
        (TEST, LOSSES, "val_loss", "test_loss"),
        (TRAIN, ACCURACIES, "train_accuracy", None),
        (CHECK, ACCURACIES, "val_accuracy", None),
        (TEST, ACCURACIES, "val_accuracy", "test_accuracy"),
    )
    return {
        before + word: (of_epoch, of_run)
        for befores, words, of_epoch, of_run in meanings
        for before in befores
        for word in words
    }


NAMES = all_names()
# The widest of the times that a line gives is the epoch's: loading is a part of running.
TIMES = (
    "epoch time",
    "running time",
    "total time",
    "time per epoch",
    "time",
    "elapsed",
    "elapsed time",
    "time taken",
    "duration",
    "training time",
    "train time",
)


def read(line: str) -> LineFacts | None:
    place = EPOCH.search(line)
    if place is None:
        return None
    numbers, of_run, percent = numbers_after(line, place.end())
    if not numbers:
        return None
    step = STEP.search(line)
    return LineFacts(
        int(place[1]),
        of=int(place[2]) if place[2] else None,
        step=int(step[1]) if step else None,
        scaled=percent,
        numbers=numbers,
        run=RunFacts(of_run) if of_run else None,
    )


def numbers_after(line: str, at: int) -> tuple[EpochNumbers, RunNumbers, bool]:
    """The values with names from a place in the line on, and whether some are said to be percent.
    Of two with one name the first counts."""
    numbers: EpochNumbers = {}
    of_run: RunNumbers = {}
    times: dict[str, Number | None] = {}
    percent, after_epoch = False, at
    for match in VALUE_AND_UNIT.finditer(line, at):
        text, unit = match[1], match[2] or ""
        name = name_of(line[at : match.start()])
        at = match.end()
        if name in TIMES:
            times.setdefault(name, printed(text, UNITS.get(unit, 1.0)))
        elif name in NAMES:
            epoch_name, run_name = NAMES[name]
            value = printed(text, 0.01 if unit == "%" else 1.0)
            percent = percent or unit == "%"
            numbers.setdefault(epoch_name, value)
            if run_name == "test_accuracy":
                of_run.setdefault(run_name, fraction(text, unit))
            elif run_name is not None:
                of_run.setdefault(run_name, value)
    widest = next((name for name in TIMES if name in times), None)
    took = None if widest else TOOK.search(line, after_epoch)
    if widest:
        numbers["seconds"] = times[widest]
    elif took:
        numbers["seconds"] = printed(took[1], UNITS.get(took[2].lower(), 1.0))
    return numbers, of_run, percent


def name_of(text: str) -> str:
    """The words right before a value: "| Training_Loss" is "training loss"."""
    name = NOT_NAME.split(text[-60:])[-1]
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())


READER = Reader("plain", ("poch", "POCH"), read)
