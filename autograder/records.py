"""What a reader finds in a job's output: frozen records that measuring, evidence and judging share.

A number that the file does not say is None, never a guess.
"""

from dataclasses import dataclass, field
from typing import Any

from autograder.codes import Outcome, ProblemCode


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a student's file; lines count from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number with the half width of its rounding: "14s" is 14 ± 0.5."""

    value: float
    half_width: float = 0.0
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the output that a person should know: an error, a bad line, a broken chain."""

    where: Where
    text: str
    reason: str
    code: ProblemCode = ProblemCode.OTHER


@dataclass(frozen=True, slots=True)
class Read:
    """What the steps of an epoch read, counted from the indices that they were given."""

    total: int
    distinct: int
    most: int  # how often the sample was read that was read most
    order: str  # a hash


@dataclass(frozen=True, slots=True)
class Epoch:
    number: int
    seconds: Number | None = None
    steps: int | None = None
    unique_samples: int | None = None
    read: Read | None = None
    throughput: Number | None = None
    train_loss: Number | None = None
    train_accuracy: Number | None = None
    val_loss: Number | None = None
    val_accuracy: Number | None = None
    lr: float | None = None
    where: Where | None = None
    began_ms: float | None = None  # wall clock, as the run record tells it
    ended_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's presence line and, if it came so far, its end line."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    device: str | None = None
    samples: int | None = None
    shard: tuple[int, int, int] | None = None
    slices: tuple[tuple[int, int, int], ...] | None = None  # a share in several pieces
    shard_ids_hash: str | None = None
    labels: tuple[int, ...] | None = None  # samples of each class in its share
    built_hash: str | None = None  # of the parameters that it built before all started alike
    start_hash: str | None = None  # of the parameters that training began with
    param_hash: str | None = None
    files_written: int | None = None
    steps: int | None = None  # of its last epoch
    loss: float | None = None  # of its own samples in its last epoch
    program: str | None = None  # hash of the program on this rank
    ended: bool = False
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """Hashes (`text_hash`) of what ran, as the run record tells them; None: not known."""

    main: str | None = None  # name of the program itself
    toolkit: str | None = None
    files: dict[str, str | None] = field(default_factory=dict)  # by names in the program's folder


@dataclass(frozen=True, slots=True)
class Beside:
    """What a job's output says beside a run's record: in lines that the program or the job file
    printed, and in the error file."""

    epochs: tuple[Epoch, ...] = ()  # as the program printed them, after the record's own lines
    test_accuracy: Number | None = None  # printed
    test_loss: Number | None = None
    evaluated: tuple[float | None, float | None] | None = None  # the last test, before the end
    job: dict[str, str] = field(default_factory=dict)  # the job file's facts: job, name, ranks, …
    errors: tuple[Problem, ...] = ()  # what tells of a bad end, though the record says success


@dataclass(frozen=True, slots=True)
class Run:
    """One training run, told apart from others in the same files."""

    files: tuple[str, ...]
    format: str
    outcome: Outcome
    job_id: str | None = None
    workers: int | None = None
    epochs: tuple[Epoch, ...] = ()
    ranks: tuple[Rank, ...] = ()
    test_accuracy: Number | None = None
    test_loss: Number | None = None
    throughput: Number | None = None  # what the program itself printed for the whole run
    total_seconds: Number | None = None
    launch: str = ""  # the run record's own name for the run
    header: dict[str, Any] = field(default_factory=dict)  # facts of the run record, if there is one
    end: dict[str, Any] = field(default_factory=dict)  # value of the record's run_stop
    measures: tuple[dict[str, Any], ...] = ()  # the record's measure events
    program: Program | None = None  # what the record says of the program that ran
    began_ms: float | None = None  # wall clock of the record's header and of its run_stop
    ended_ms: float | None = None
    chain_intact: bool | None = None  # None: the format has no chain
    problems: tuple[Problem, ...] = ()
    unfinished: Epoch | None = None  # the last values of an epoch that began and did not end
    # Where it stands what no Number of it tells: "workers", "job_id", "outcome".
    places: dict[str, Where] = field(default_factory=dict)
    timed_by_log: bool = False  # its epochs' seconds are differences of the log's times
    sparse: bool = False  # only some epochs were told of, so that their number is not known
    epochs_done: float | None = None  # as the program counts it, fractions too, if it does
    beside: Beside = field(default_factory=Beside)  # to compare a record with
