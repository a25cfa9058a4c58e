"""What one line of a job's output can say: what readers of formats give, and runs are made of.

A number that stands here as None was printed and is none, like nan: the training diverged. A number
that does not stand here was not printed.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

from autograder.reading.stamps import Stamp
from autograder.records import Number

EpochNumber = Literal[
    "seconds",
    "throughput",  # samples a second
    "train_loss",
    "train_accuracy",
    "val_loss",
    "val_accuracy",
]
RunNumber = Literal[
    "test_accuracy",
    "test_loss",
    "total_seconds",  # of the whole training
    "run_throughput",  # samples a second, of the whole training
]
EPOCH_NUMBERS: tuple[EpochNumber, ...] = get_args(EpochNumber)
RUN_NUMBERS: tuple[RunNumber, ...] = get_args(RunNumber)
EpochNumbers = dict[EpochNumber, Number | None]
RunNumbers = dict[RunNumber, Number | None]
ACCURACIES = ("train_accuracy", "val_accuracy", "test_accuracy")

EpochPart = Literal["train", "val"]


# Nobody changes a line's facts, but they are not frozen: that takes Python five times as long to
# make, and there is one for each line that a reader understands.
@dataclass(slots=True)
class RunFacts:
    """What lines say of a whole run."""

    # The Numbers of a single line have no place yet; who collects them knows it.
    numbers: RunNumbers = field(default_factory=dict)
    workers: int | None = None  # processes, or GPUs, that train together
    batch: int | None = None  # samples of a step on all workers together
    batch_each: int | None = None  # and on each
    rank: int | None = None  # one of the processes, among all
    says_end: bool = False  # a framework trains that says when it is done
    starts: bool = False  # a program begins here, or is about to
    of_workers: int | None = None  # this line is about the run with so many, wherever it stands
    job_id: str | None = None  # the scheduler's
    done: bool = False  # the training is over, as planned
    early: bool = False  # the training stopped before its last epoch, on purpose
    alone: bool | None = None  # a process says that it has one device, and names no others
    sums_up: str = ""  # the words of a line that sums up, as programs do when they are done


def both(first: RunFacts, second: RunFacts) -> RunFacts:
    """What two say of one run; where both say it, the first one counts."""
    return RunFacts(
        second.numbers | first.numbers,
        workers=second.workers if first.workers is None else first.workers,
        batch=second.batch if first.batch is None else first.batch,
        batch_each=second.batch_each if first.batch_each is None else first.batch_each,
        rank=second.rank if first.rank is None else first.rank,
        says_end=first.says_end or second.says_end,
        starts=first.starts or second.starts,
        of_workers=second.of_workers if first.of_workers is None else first.of_workers,
        job_id=second.job_id if first.job_id is None else first.job_id,
        done=first.done or second.done,
        early=first.early or second.early,
        alone=second.alone if first.alone is None else first.alone,
        sums_up=first.sums_up or second.sums_up,
    )


@dataclass(slots=True)
class LineFacts:
    """What a line says of an epoch, and of the whole run besides."""

    number: int | None = None  # of the epoch as printed: some count from 0. None: the current one
    of: int | None = None  # epochs asked for
    opens: bool = False  # the line begins the epoch, before anything is known of it
    heading: bool = False  # so does a second such line of the same epoch: it is none of another run
    results: bool = False  # such a heading stands above results: the epoch is under way
    closes: bool = False  # the line is the epoch's result: nothing follows that belongs to it
    whole: bool = False  # the epoch has come to its end, though more may be said of it
    # The line stands within the epoch, after so many steps (or samples, or parts of the epoch);
    # numbers of later steps replace those of earlier ones.
    step: float | None = None
    steps: int | None = None  # of a whole epoch
    part: EpochPart | None = (
        None  # what the steps are of, where training and checking both count them
    )
    redraws: bool = False  # the same step may be printed again, as bars do
    scaled: bool = False  # accuracies are fractions of 1 already, whatever their values
    progress: float | None = None  # epochs done since the beginning, with fractions
    loose: bool = False  # it names no epoch: it belongs to the one that the lines before it name
    after_heading: bool = False  # and only if one of these is right before it
    passes: bool = False  # steps that begin anew within an epoch are the check's
    rates: bool = False  # its throughput is of a part of the epoch
    unnamed: bool = False  # a loss or an accuracy does not say what it was measured on
    stamp: Stamp | None = None  # when the line was written
    numbers: EpochNumbers = field(default_factory=dict)
    run: RunFacts | None = None
    text: str = ""  # the line
