"""What every reader of a printed format is: tags, and a function from a line to what it says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What a line says, by these names; a Number has no place yet, the caller knows it.
#   epoch          the number as printed (some count from 0); without it, the current epoch
#   of             epochs asked for
#   opens, closes  the line begins the epoch, or is its result: all of the epoch is known now
#   step           the line stands within the epoch; later lines replace earlier ones
#   scaled         accuracies are fractions of 1 already, whatever their values
#   progress       how many epochs are done, with fractions
#   seconds steps throughput train_loss train_accuracy val_loss val_accuracy lr   of the epoch
#   test_accuracy test_loss total_seconds run_throughput workers job_id done early   of the run
Said = dict[str, Any]

EPOCH_NUMBERS = (
    "seconds",
    "throughput",
    "train_loss",
    "train_accuracy",
    "val_loss",
    "val_accuracy",
)
ACCURACIES = ("train_accuracy", "val_accuracy", "test_accuracy")


@dataclass(frozen=True, slots=True)
class Reader:
    format: str
    tags: tuple[str, ...]  # a line without any of them says nothing to this reader
    read: Callable[[str], Said | None]
    after: str | None = None  # another format, whose beginnings of epochs are this one's too
