"""Recognise losses and accuracies by the names that programs print."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from autograder.reading.line_facts import ACCURACIES, EpochNumber, EpochNumbers, RunNumber
from autograder.reading.printed_numbers import printed

On = Literal["train", "val", "test"]
Kind = Literal["loss", "accuracy"]

TRAIN, TEST = r"train(?:ing)?", r"test(?:ing)?"
VAL = r"val(?:id(?:ation)?)?|eval(?:uation)?|dev|v"
DATA_SET = re.compile(
    rf"(?i)(?<![a-z])(?:(?P<train>{TRAIN})|(?P<val>{VAL})|(?P<test>{TEST}))(?![a-z])"
)
OTHERS = (
    "set|epoch|avg|average|mean|running|step|the|on|overall|total|minibatch|batch|model|is|data"
)
NAME = re.compile(
    rf"(?P<before>(?:(?:{TRAIN}|{VAL}|{TEST}|{OTHERS}) )*)"
    r"(?:(?P<loss>(?:lm )?loss|cross entropy|cost)"
    r"|(?P<accuracy>(?:(?:sparse )?categorical |binary )?accuracy(?:@1)?|acc(?: ?1|@1| top1)?"
    r"|top ?1(?: acc(?:uracy)?)?|prec(?:ision)?@1))"
)
MEANS: dict[tuple[Kind, On], tuple[EpochNumber, RunNumber | None]] = {
    ("loss", "train"): ("train_loss", None),
    ("accuracy", "train"): ("train_accuracy", None),
    ("loss", "val"): ("val_loss", None),
    ("accuracy", "val"): ("val_accuracy", None),
    # the validation of an epoch; the last one is also the test
    ("loss", "test"): ("val_loss", "test_loss"),
    ("accuracy", "test"): ("val_accuracy", "test_accuracy"),
}


def plainly(text: str) -> str:
    return " ".join(text.lower().replace("_", " ").replace("-", " ").split())


@lru_cache(maxsize=1000)
def meaning(name: str) -> tuple[Kind, On | None] | None:
    """Return whether a plain name is that of a loss or an accuracy, and on which data set."""
    match = NAME.fullmatch(name)
    return match and ("loss" if match["loss"] else "accuracy", data_set_in(match["before"]))


def data_set_in(text: str) -> On | None:
    """Return the data set that a text mentions last."""
    on: On | None = None
    for match in DATA_SET.finditer(text):
        on = "train" if match["train"] else "val" if match["val"] else "test"
    return on


def epoch_numbers(
    pairs: Iterable[tuple[str, str]], on: On = "train", percent: bool = False
) -> EpochNumbers:
    """Return an epoch's values among pairs of a name and a value.

    If a name appears twice, its first value counts. `on` is the data set of names without one, such
    as `loss`.
    """
    numbers: EpochNumbers = {}
    for printed_name, value in pairs:
        known = meaning(plainly(printed_name.replace("/", " ").removesuffix("_epoch")))
        if known:
            name, _ = MEANS[known[0], known[1] or on]
            is_percentage = percent and name in ACCURACIES
            numbers.setdefault(name, printed(value, 0.01 if is_percentage else 1.0))
    return numbers
