"""Recognise the losses and accuracies of an epoch by the names that programs print."""

from collections.abc import Iterable
from typing import Literal

from autograder.reading.line_facts import ACCURACIES, EpochNumber, EpochNumbers, RunNumber
from autograder.reading.printed_numbers import printed

On = Literal["train", "val", "test"]
Kind = Literal["loss", "accuracy"]

KINDS: dict[Kind, tuple[str, ...]] = {
    "loss": ("loss", "total loss", "lm loss", "cross entropy", "cost"),
    "accuracy": (
        *("accuracy", "acc", "acc 1", "acc1", "acc@1", "top1", "top 1", "top 1 accuracy"),
        *("top1 acc", "top1 accuracy", "acc top1", "prec@1", "precision@1", "accuracy@1"),
        *("categorical accuracy", "sparse categorical accuracy", "binary accuracy"),
    ),
}
BEFORE: dict[str, On | None] = {
    **dict.fromkeys(("", "avg ", "average ", "mean ", "running ", "minibatch ", "batch ")),
    **dict.fromkeys(("train ", "training ", "avg train ", "train avg ", "mean train "), "train"),
    **dict.fromkeys(("val ", "valid ", "validation ", "eval ", "evaluation ", "dev ", "v "), "val"),
    **dict.fromkeys(("avg val ", "average validation ", "mean val "), "val"),
    **dict.fromkeys(("test ", "testing ", "avg test ", "average test "), "test"),
}
# Names of values: whether each is a loss or an accuracy, and on which data.
NAMES: dict[str, tuple[Kind, On | None]] = {
    before + word: (kind, on)
    for before, on in BEFORE.items()
    for kind, words in KINDS.items()
    for word in words
}
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


def epoch_numbers(
    pairs: Iterable[tuple[str, str]], on: On = "train", percent: bool = False
) -> EpochNumbers:
    """Return an epoch's values among pairs of a name and a value. The first of a name counts.

    `on` is the data set of a name without one, such as `loss`.
    """
    numbers: EpochNumbers = {}
    for printed_name, value in pairs:
        known = NAMES.get(plainly(printed_name.replace("/", " ").removesuffix("_epoch")))
        if known:
            name, _ = MEANS[known[0], known[1] or on]
            is_percentage = percent and name in ACCURACIES
            numbers.setdefault(name, printed(value, 0.01 if is_percentage else 1.0))
    return numbers
