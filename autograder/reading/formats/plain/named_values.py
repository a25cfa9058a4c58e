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
from typing import Any, Literal

from autograder.reading.line_facts import (
    EpochNumber,
    EpochNumbers,
    LineFacts,
    RunFacts,
    RunNumber,
    RunNumbers,
)
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

On = Literal["train", "val", "test"]
Kind = Literal["loss", "accuracy"]
UNIT = r"(?:%|seconds|secs|sec|minutes|mins|min|ms|hours|hrs|h|s)"
# A value with its unit. Its name is between the previous value and this one.
PAIR = re.compile(rf"\s{{0,4}}[:=]\s{{0,12}}[\"']?({VALUE})[\"']?\s?({UNIT})?(?![A-Za-z\d])")
WORDS = (
    r"(?:(?:train(?:ing)?|val(?:id(?:ation)?)?|v|eval|test(?:ing)?|dev|avg|mean|total)[ _]){0,2}"
    r"(?:loss|acc(?:uracy)?(?:@1)?|top-?1)"
)
NAMED_BY_BLANK = re.compile(rf"(?i)(?<![\w@.-])({WORDS})\s{{1,4}}({VALUE})\s?(%)?(?![\w%]|\.\d)")
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
EACH = r"(?!\s?(?:/|per)[ _]?(?:gpu|device|worker|rank|process|core))"
RATE = re.compile(
    rf"(?i)(?:({VALUE})\s?{SAMPLES}\s?{SECOND}{EACH}"
    rf"|\b{SAMPLES}[ _]?{SECOND}{EACH}[\"']?\s?[:=]\s{{0,4}}({VALUE}))"
)
ON = re.compile(
    r"(?i)(?<![a-z])(?:(train(?:ing)?)|(val(?:id(?:ation)?)?|eval(?:uation)?|dev|v)|(test(?:ing)?))"
    r"(?![a-z])"
)
LOSSES = ("loss", "total loss", "lm loss", "cross entropy", "cost")
ACCURACIES = (
    *("accuracy", "acc", "acc 1", "acc1", "acc@1", "top1", "top 1", "top 1 accuracy", "top1 acc"),
    *("acc top1", "prec@1", "precision@1", "accuracy@1", "top1 accuracy", "categorical accuracy"),
)
BEFORE: dict[str, On | None] = {
    **dict.fromkeys(("", "avg ", "average ", "mean ", "running ", "minibatch ", "batch ")),
    **dict.fromkeys(("train ", "training ", "avg train ", "train avg ", "mean train "), "train"),
    **dict.fromkeys(("val ", "valid ", "validation ", "eval ", "evaluation ", "dev ", "v "), "val"),
    **dict.fromkeys(("avg val ", "average validation ", "mean val "), "val"),
    **dict.fromkeys(("test ", "testing ", "avg test ", "average test "), "test"),
}
# Names of values: whether each is a loss or an accuracy, and on which data.
KINDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (("loss", LOSSES), ("accuracy", ACCURACIES))
NAMES: dict[str, tuple[Kind, On | None]] = {
    before + word: (kind, on)
    for before, on in BEFORE.items()
    for kind, words in KINDS
    for word in words
}
MEANS: dict[tuple[str, On], tuple[EpochNumber, RunNumber | None]] = {
    ("loss", "train"): ("train_loss", None),
    ("accuracy", "train"): ("train_accuracy", None),
    ("loss", "val"): ("val_loss", None),
    ("accuracy", "val"): ("val_accuracy", None),
    # the validation of an epoch; the last one is also the test
    ("loss", "test"): ("val_loss", "test_loss"),
    ("accuracy", "test"): ("val_accuracy", "test_accuracy"),
}
# If a line has several times, the most inclusive one is the epoch's: running includes loading.
TIMES = (
    "epoch time",
    "training epoch time",
    "running time",
    "total time",
    "time per epoch",
    "epoch duration",
    "time",
    "elapsed",
    "elapsed time",
    "time taken",
    "time cost",
    "time elapsed",
    "duration",
    "training time",
    "train time",
)
SURE = TIMES[:2]  # times of the whole epoch, wherever they are on the line


@dataclass(slots=True)
class Named:
    """The named values of a line."""

    numbers: EpochNumbers = field(default_factory=dict)
    of_run: RunNumbers = field(default_factory=dict)
    percent: bool = False  # whether some are percentages
    unnamed: bool = False  # whether some have no data set
    first: str = ""  # the text before the first known name
    sure_time: bool = False  # whether the seconds are explicitly those of a whole epoch

    def add(self, kind: Kind, on: On, text: str, unit: str) -> None:
        """Add a loss or an accuracy. If the line has several of them, the first one counts."""
        epoch_name, run_name = MEANS[kind, on]
        self.percent = self.percent or unit == "%"
        value = printed(text, 0.01 if unit == "%" else 1.0)
        self.numbers.setdefault(epoch_name, value)
        if run_name is not None:
            self.of_run.setdefault(run_name, fraction(text, unit) if kind == "accuracy" else value)

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


@dataclass(slots=True)
class Measured:
    """A loss or an accuracy on a line."""

    kind: Kind
    on: On | None  # the data set in its name
    carried: On | None  # the data set in the words before it
    text: str
    unit: str


def values(line: str, at: int, on: On | None = None) -> Named:
    """Return the named values found in the line from the given position onward.

    If a name appears twice, its first value counts.
    """
    named = Named()
    if "{'" in line:
        line = line[:at] + ONLY_ONE.sub(r"\1=\2", line[at:])
    begin = at
    times: dict[str, Number | None] = {}
    measured: list[Measured] = []
    for match in PAIR.finditer(line, at):
        before, text, unit = line[at : match.start()], match[1], match[2] or ""
        at = match.end()
        name, on, unit = name_of(before, on, unit)
        if name in TIMES:
            times.setdefault(name, duration(line, match.start(1), text, unit))
        elif name in NAMES:
            measured.append(Measured(*NAMES[name], on, text, unit))
        else:
            continue
        named.first = named.first or line[begin : match.start()]
    add_by_blanks(named, measured, line, begin, on)
    add_measured(named, measured)
    widest = next((name for name in TIMES if name in times), None)
    took = None if widest else TOOK.search(line, begin)
    if widest:
        if times[widest] is not None:
            named.numbers["seconds"] = times[widest]
        named.sure_time = widest in SURE
    elif took:
        clock_time = duration(line, took.end(), "", "")
        seconds = printed(took[1], seconds_in(took[2])) if took[1] else clock_time
        if seconds is not None:
            named.numbers["seconds"] = seconds
    if (rate := rate_in(line[begin:])) is not None:
        named.numbers["throughput"] = rate
    return named


def rate_in(text: str) -> Number | None:
    """Return samples per second."""
    rate = RATE.search(text)
    return positive(printed(rate[1] or rate[2])) if rate else None


def add_by_blanks(
    named: Named, measured: list[Measured], line: str, begin: int, on: On | None
) -> None:
    """Add values separated from their names by a blank, as in `train loss 0.4 acc 0.9`.

    If the line also has values after colons, only names that mention a data set count.
    """
    others = {(one.kind, one.on) for one in measured}
    at = begin
    for match in NAMED_BY_BLANK.finditer(line, begin):
        name = match[1].lower().replace("_", " ").replace("-", "")
        if name not in NAMES or NOT_THIS_EPOCHS.search(
            line, max(0, match.start() - 12), match.start()
        ):
            continue
        kind, of = NAMES[name]
        if others and (of is None or (kind, of) in others or (kind, None) in others):
            continue
        named.first = named.first or line[begin : match.end(1)]
        on = of or last_on(line, at, match.start()) or on
        at = match.end()
        measured.append(Measured(kind, of, on, match[2], match[3] or ""))


def add_measured(named: Named, measured: list[Measured]) -> None:
    """Add losses and accuracies, and work out the data set of those that name none.

    In `val loss 0.5, acc 0.9`, the accuracy is a validation accuracy, unless `val acc` follows. In
    `train_loss=0.5 val_loss=0.6 acc=0.9`, the accuracy is ambiguous and is not used.
    """
    said = {(one.kind, one.on) for one in measured}
    for one in measured:
        on = one.on or (one.carried if (one.kind, one.carried) not in said else None)
        if on is None and of_either(one.kind, said):
            continue
        named.unnamed = named.unnamed or on is None
        if one.unit in ("", "%"):
            named.add(one.kind, on or "train", one.text, one.unit)


def of_either(kind: Kind, said: set[tuple[Kind, On | None]]) -> bool:
    """Return whether an unnamed value is ambiguous.

    It is ambiguous if the line has other kinds of values for training and validation, but none of
    its own kind.
    """
    named = {on for _, on in said}
    checks = "val" in named or "test" in named
    return "train" in named and checks and not any((kind, on) in said for on in named if on)


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
    if name not in NAMES and name not in TIMES and " " in name:
        # "test set loss", "model accuracy"
        last = name.rsplit(" ", 1)[-1]
        name = last if last in NAMES and OTHER_WORDS.fullmatch(name[: -len(last)]) else name
    if " " in words or (name in NAMES and NAMES[name][1] is None):
        on = last_on(text, 0, len(text)) or on
    return name, on, unit


def last_on(line: str, at: int, end: int) -> On | None:
    """Return the last data set that is named between two positions of the line."""
    on: On | None = None
    for match in ON.finditer(line, at, end):
        on = "train" if match[1] else "val" if match[2] else "test"
    return on


OTHER_WORDS = re.compile(
    r"(?:(?:train(?:ing)?|val(?:idation)?|test(?:ing)?|eval|set|epoch|avg|average|mean|step|the|on"
    r"|overall|total|minibatch|batch|model|is|data) ){1,4}"
)


def plainly(text: str) -> str:
    return " ".join(text.lower().replace("_", " ").replace("-", " ").split())


def duration(line: str, at: int, text: str, unit: str) -> Number | None:
    """Convert a number, with or without a unit, or a clock time to seconds. None if ambiguous."""
    match = CLOCK.match(line, at) or SHORT_CLOCK.match(line, at)
    if match:
        return clock(match[1], match[2], match[3])
    after = line[at + len(text) : at + len(text) + 12].lstrip("\"' ")
    if not unit and after[:1].isalpha():
        return None
    return None if unit == "%" else printed(text, seconds_in(unit))
