"""The facts in one line of a job's output.

Readers return these facts, and runs are built from them.

A value of None means that something was printed that is not a number, such as nan: the training
diverged. A missing key means that nothing was printed.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

from autograder.reading.stamps import Stamp
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

EpochPart = Literal["train", "val"]


# Not frozen, although nobody changes a line's facts: creating frozen objects takes five times as
# long, and there is one for each line that a reader understands.
@dataclass(slots=True)
class RunFacts:
    """Facts from lines about a whole run."""

    # The Numbers of a single line have no place yet. The code that collects them adds it.
    numbers: RunNumbers = field(default_factory=dict)
    workers: int | None = None  # processes, or GPUs, that train together
    batch: int | None = None  # samples per step on all workers together
    batch_each: int | None = None  # samples per step on each worker
    rank: int | None = None  # the rank of one of the processes
    says_end: bool = False  # whether the framework reports its end
    starts: bool = False  # whether a program begins here, or is about to
    # the line is about the run with this many workers, wherever that run is in the file
    of_workers: int | None = None
    job_id: str | None = None  # the scheduler's id
    done: bool = False  # whether the training is over, as planned
    early: bool = False  # whether the training stopped early, on purpose
    alone: bool | None = None  # whether a process reports a single device, and no others
    sums_up: str = ""  # the words of a summary line at the end of a program


NOTHING = RunFacts()
SINGLE_FACTS = tuple(fact.name for fact in fields(RunFacts) if fact.name != "numbers")


def both(first: RunFacts, second: RunFacts) -> RunFacts:
    """Return the facts of both lines. If both lines have a value, the first line's counts."""
    joined = replace(second, numbers=second.numbers | first.numbers)
    for name in SINGLE_FACTS:
        value = getattr(first, name)
        if value != getattr(NOTHING, name):
            setattr(joined, name, value)
    return joined


@dataclass(slots=True)
class LineFacts:
    """The facts that a line states about an epoch and about the whole run."""

    number: int | None = None  # the printed epoch, which may count from 0; None: the current one
    of: int | None = None  # number of epochs that were requested
    opens: bool = False  # whether the line begins the epoch, before anything is known about it
    # like `opens`, but a second such line of the same epoch belongs to the same run
    heading: bool = False
    results: bool = False  # whether the heading is above results: the epoch is under way
    # whether the line is the epoch's result, after which nothing belongs to it
    closes: bool = False
    whole: bool = False  # whether the epoch has ended, though more lines about it may follow
    # The line is within the epoch, after this many steps (or samples, or parts of the epoch).
    # Numbers of later steps replace those of earlier ones.
    step: float | None = None
    steps: int | None = None  # number of steps in a whole epoch
    # Which steps are counted, if training and validation both count theirs.
    part: EpochPart | None = None
    redraws: bool = False  # whether the same step may be printed again, as in bars
    scaled: bool = False  # whether accuracies are fractions of 1, whatever their values
    progress: float | None = None  # finished epochs since the start, with fractions
    loose: bool = False  # the line names no epoch, and belongs to the epoch of the lines before it
    after_heading: bool = False  # whether such a line counts only right after a heading
    passes: bool = False  # steps that start again within an epoch are the validation's
    rates: bool = False  # its throughput covers only a part of the epoch
    unnamed: bool = False  # a loss or an accuracy does not name its data set
    stamp: Stamp | None = None  # when the line was written
    numbers: EpochNumbers = field(default_factory=dict)
    run: RunFacts | None = None
    text: str = ""  # the line
