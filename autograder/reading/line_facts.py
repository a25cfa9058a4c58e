"""The facts in one line of a job's output.

Readers return these facts, and runs are built from them.

A value of None means that something was printed that is not a number, such as nan: the training
diverged. A missing key means that nothing was printed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from autograder.codes import INFORMATION, STUDENT, FindingCode
from autograder.notes import Note, Where
from autograder.records import Number

EpochNumber = Literal[
    "seconds",
    "throughput",  # samples per second
    "train_loss",
    "train_accuracy",
    "val_loss",
    "val_accuracy",
]
RunNumber = Literal[
    "test_accuracy",
    "test_loss",
    "total_seconds",  # seconds of the whole training
    "run_throughput",  # samples per second, of the whole training
]
EPOCH_NUMBERS: tuple[EpochNumber, ...] = get_args(EpochNumber)
RUN_NUMBERS: tuple[RunNumber, ...] = get_args(RunNumber)
EpochNumbers = dict[EpochNumber, Number | None]
RunNumbers = dict[RunNumber, Number | None]
ACCURACIES = ("train_accuracy", "val_accuracy", "test_accuracy")


# Not frozen, although nobody changes a line's facts: creating frozen objects takes five times as
# long, and there is one for each line that a reader understands.
@dataclass(slots=True)
class RunFacts:
    """Facts about a whole run."""

    # The Numbers of a single line have no place yet. The code that collects them adds it.
    numbers: RunNumbers = field(default_factory=dict)
    workers: int | None = None  # processes, or GPUs, that train together
    job_id: str | None = None  # the scheduler's id
    done: bool = False  # whether the training is over, as planned


NOTHING = RunFacts()


@dataclass(slots=True)
class LineFacts:
    """The facts that a line states about an epoch and about the whole run."""

    number: int | None = None  # the printed epoch, which may count from 0; None: the current one
    of: int | None = None  # number of epochs that were requested
    opens: bool = False  # whether the line begins the epoch, before anything is known about it
    closes: bool = False  # whether the line ends the epoch
    # The line is within the epoch, after this many steps (or samples). Numbers of later steps
    # replace those of earlier ones.
    step: int | None = None
    steps: int | None = None  # number of steps in a whole epoch
    scaled: bool = False  # whether accuracies are fractions of 1, whatever their values
    numbers: EpochNumbers = field(default_factory=dict)
    run: RunFacts = field(default_factory=RunFacts)


@dataclass(frozen=True, slots=True, eq=False)  # every reader is compared by identity
class Reader:
    """A format: a function that returns the facts of a line, or None."""

    format: str
    tags: tuple[str, ...]  # a line without any of these is not shown to the reader
    read: Callable[[str], LineFacts | None]


def make_problem(
    where: Where, text: str, reason: str, code: FindingCode = FindingCode.READ_PROBLEM
) -> Note:
    """Return a note on a line of an output: an error, a bad line, a broken chain."""
    return Note(code, INFORMATION, STUDENT, reason, actual=text, where=(where,))
