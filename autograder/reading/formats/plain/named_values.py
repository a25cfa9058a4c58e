"""Read names with their values, and decide what each value is.

Training Loss:  0.847 | Training Accuracy:  70.098        loss=0.31 acc=0.91 time=12.3s
train loss 0.41 acc 0.88, val loss 0.45 acc 0.86          {"loss": 0.3, "val_acc": 0.9}
Minibatch Loss= 2.3, Training Accuracy= 0.26, 814 Examples/sec

A value belongs to the name right before it. A name without a data set, such as `loss`, takes
the data set from the words before it: `val: loss 0.3 acc 0.9`. A time without a known unit is
ignored.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from autograder.reading.formats.names import MEANS, Kind, On, data_set_in, meaning, plainly
from autograder.reading.line_facts import EpochNumbers, LineFacts, RunFacts, RunNumbers
from autograder.reading.printed_numbers import (
    NUMBER,
    VALUE,
    clock,
    fraction,
    positive,
    printed,
    seconds_in,
)
from autograder.records import Number

UNIT = r"(?:%|seconds|secs|sec|minutes|mins|min|ms|hours|hrs|h|s)"
# A value with its unit. Its name is between the previous value and this one.
PAIR = re.compile(rf"\s{{0,4}}[:=]\s{{0,12}}[\"']?({VALUE})[\"']?\s?({UNIT})?(?![A-Za-z\d])")
WORDS = (
    r"(?:(?:train(?:ing)?|val(?:id(?:ation)?)?|v|eval|test(?:ing)?|dev|avg|mean|total)[ _]){0,2}"
    r"(?:loss|acc(?:uracy)?(?:@1)?|top-?1)"
)
NAMED_BY_BLANK = re.compile(rf"(?i)(?<![\w@.-])({WORDS})\s{{1,4}}({VALUE}\s?%?)(?![\w%]|\.\d)")
BY_BLANK = "\x1f"  # inserted before a name that is followed by a blank, not by a colon
# `top1={'logits': 96.1}` means the same as `top1=96.1`.
ONLY_ONE = re.compile(rf"([\w@]{{1,30}})\s?[:=]\s?\{{'[\w ]{{1,40}}': ({VALUE})\}}")
NOT_NAME = re.compile(r"[^\w@ -]+")
NOT_THIS_EPOCHS = re.compile(r"(?i)(?:best|max|min|highest|lowest|prev|previous|target)\W{1,3}$")
COUNT = re.compile(r"^(?:\d{1,12}\s{1,8}){1,3}")  # a count that may come before a name
IN_BRACKETS = re.compile(r"\s?\(([^()]{0,30})\)\s?$")
TOOK = re.compile(
    rf"(?i)\b(?:took|in)[ :]{{1,3}}(?:({NUMBER}) ?(seconds|secs|sec|s|minutes|mins|min|hours|ms)\b"
    r"|(?=\d{1,4}(?:[hm] ?\d|:\d\d)))"
)
CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)(?![\d:])")
SHORT_CLOCK = re.compile(r"(?:(\d{1,3})h ?)?(\d{1,4})m(?:in)? ?(\d{1,2}(?:\.\d{1,9})?)s\b")
SAMPLES = r"(?:examples?|images?|imgs?|samples?|records?|sequences?)"
SECOND = r"(?:/|per[ _])\s?s(?:ec(?:ond)?s?)?\b"
PER_SECOND = re.compile(rf"(?i){SECOND}")
EACH = r"(?!\s?(?:/|per)[ _]?(?:gpu|device|worker|rank|process|core))"
RATE = re.compile(
    rf"(?i)(?:({VALUE})\s?{SAMPLES}\s?{SECOND}{EACH}"
    rf"|\b{SAMPLES}[ _]?{SECOND}{EACH}[\"']?\s?[:=]\s{{0,4}}({VALUE}))"
)
SURE = ("epoch time", "training epoch time")  # of the whole epoch, wherever they are on the line
# If a line has several times, the most inclusive one is the epoch's: running includes loading.
TIMES = (
    *SURE,
    *("running time", "total time", "time per epoch", "epoch duration", "time", "elapsed"),
    *("elapsed time", "time taken", "time cost", "time elapsed", "duration", "training time"),
    "train time",
)


@dataclass(slots=True)
class Measured:
    """A loss or an accuracy on a line."""

    kind: Kind
    on: On | None  # the data set in its name
    carried: On | None  # the data set in the words before it
    text: str
    unit: str
    by_blank: bool


@dataclass(slots=True)
class Named:
    """The named values of a line."""

    numbers: EpochNumbers = field(default_factory=dict)
    of_run: RunNumbers = field(default_factory=dict)
    percent: bool = False  # whether some are percentages
    unnamed: bool = False  # whether some have no data set
    first: str = ""  # the text before the first known name
    sure_time: bool = False  # whether the seconds are explicitly those of a whole epoch

    def facts(self, number: int | None = None, **others: Any) -> LineFacts:
        """Return the facts in a line about the epoch with this number."""
        return LineFacts(
            number,
            scaled=self.percent,
            unnamed=self.unnamed,
            numbers=self.numbers,
            run=RunFacts(self.of_run) if self.of_run else None,
            **others,
        )


def values(line: str, at: int, on: On | None = None) -> Named:
    """Return the named values found in the line from the given position onward.

    If a name appears twice, its first value counts.
    """
    named, begin = Named(), at
    if "{'" in line:
        line = line[:at] + ONLY_ONE.sub(r"\1=\2", line[at:])
    line = line[:at] + NAMED_BY_BLANK.sub(with_colon, line[at:])
    times: dict[str, Number | None] = {}
    measured: list[Measured] = []
    for match in PAIR.finditer(line, at):
        before, text, unit = line[at : match.start()], match[1], match[2] or ""
        at = match.end()
        name, on, unit = name_of(before, on, unit)
        if name in TIMES:
            times.setdefault(name, duration(line, match.start(1), text, unit))
        elif known := meaning(name):
            measured.append(Measured(*known, on, text, unit, BY_BLANK in before))
        else:
            continue
        named.first = named.first or line[begin : match.start()].replace(BY_BLANK, "")
    add_measured(named, measured)
    widest = next((name for name in TIMES if name in times), None)
    seconds = times[widest] if widest else time_taken(line, begin)
    if seconds is not None:
        named.numbers["seconds"] = seconds
    named.sure_time = widest in SURE
    if (rate := rate_in(line[begin:])) is not None:
        named.numbers["throughput"] = rate
    return named


def with_colon(match: re.Match[str]) -> str:
    """Insert the missing colon in text such as `train loss 0.4`."""
    if NOT_THIS_EPOCHS.search(match.string, max(0, match.start() - 12), match.start()):
        return match[0]
    return f"{BY_BLANK}{match[1]}: {match[2]}"


def rate_in(text: str) -> Number | None:
    """Return samples per second."""
    rate = RATE.search(text) if PER_SECOND.search(text) else None  # most lines have none
    return positive(printed(rate[1] or rate[2])) if rate else None


def time_taken(line: str, at: int) -> Number | None:
    """Return the time in words such as `took 12.5 s`."""
    took = TOOK.search(line, at)
    if took is None:
        return None
    return printed(took[1], seconds_in(took[2])) if took[1] else duration(line, took.end(), "", "")


def add_measured(named: Named, measured: list[Measured]) -> None:
    """Add losses and accuracies, and work out the data set of those that name none.

    In `val loss 0.5, acc 0.9`, the accuracy is a validation accuracy, unless `val acc` follows. In
    `train_loss=0.5 val_loss=0.6 acc=0.9`, the accuracy is ambiguous and is not used. If some values
    have a colon, those without one count only if their name mentions a data set.
    """
    if any(not one.by_blank for one in measured):
        measured = [one for one in measured if one.on or not one.by_blank]
    names = {(one.kind, one.on) for one in measured}
    data_sets = {on for _, on in names}
    has_both = "train" in data_sets and not data_sets.isdisjoint(("val", "test"))
    for one in measured:
        on = one.on or (one.carried if (one.kind, one.carried) not in names else None)
        is_named = any((one.kind, other) in names for other in data_sets if other)
        if on is None and has_both and not is_named:
            continue
        named.unnamed = named.unnamed or on is None
        if one.unit not in ("", "%"):
            continue
        named.percent = named.percent or one.unit == "%"
        epoch_name, run_name = MEANS[one.kind, on or "train"]
        value = printed(one.text, 0.01 if one.unit == "%" else 1.0)
        named.numbers.setdefault(epoch_name, value)
        if run_name is not None:
            is_accuracy = one.kind == "accuracy"
            of_run = fraction(one.text, one.unit) if is_accuracy else value
            named.of_run.setdefault(run_name, of_run)


def name_of(before: str, on: On | None, unit: str) -> tuple[str, On | None, str]:
    """Return the name in front of a value, with its data set and its unit.

    "| Training_Loss" is "training loss"; "Time (ms)" is "time" in ms.
    """
    text = before[-80:].rstrip("\"' ")
    brackets = IN_BRACKETS.search(text)
    if brackets:
        text = text[: brackets.start()]
        unit = unit or (brackets[1] if re.fullmatch(UNIT, brackets[1]) else "")
    words = COUNT.sub("", NOT_NAME.split(text)[-1].strip())
    name = plainly(words)
    known = meaning(name)
    if " " in words or (known and known[1] is None):
        on = data_set_in(text) or on
    return name, on, unit


def duration(line: str, at: int, text: str, unit: str) -> Number | None:
    """Convert a number, with or without a unit, or a clock time to seconds. None if ambiguous."""
    match = CLOCK.match(line, at) or SHORT_CLOCK.match(line, at)
    if match:
        return clock(match[1], match[2], match[3])
    after = line[at + len(text) : at + len(text) + 12].lstrip("\"' ")
    if not unit and after[:1].isalpha():
        return None
    return None if unit == "%" else printed(text, seconds_in(unit))
