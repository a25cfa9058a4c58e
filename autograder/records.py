"""The facts of a job's output: frozen records that measuring, evidence and judging share.

A number that is not in the file is None, never a guess.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain, count
from typing import Any

from autograder.codes import Outcome
from autograder.notes import Note, Where


@dataclass(frozen=True, slots=True)
class Number:
    """A printed number with the half width of its rounding: "14s" is 14 ± 0.5."""

    value: float
    half_width: float = 0.0
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    number: int
    seconds: Number | None = None
    steps: int | None = None
    unique_samples: int | None = None
    read_most: int | None = None  # how often its steps read the most frequent sample
    read_order: str | None = None  # hash of the order in which they read the samples
    throughput: Number | None = None
    train_loss: Number | None = None
    train_accuracy: Number | None = None
    val_loss: Number | None = None
    val_accuracy: Number | None = None
    lr: float | None = None
    where: Where | None = None
    began_ms: float | None = None  # wall clock, from the run record
    ended_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Rank:
    """The facts from one rank's first line and, if there is one, from its end line."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    device: str | None = None
    samples: int | None = None
    # Its share of the data set: start, stop (None: the end) and step of each piece.
    slices: tuple[tuple[int, int | None, int], ...] | None = None
    shard_ids_hash: str | None = None
    labels: tuple[int, ...] | None = None  # samples of each class in its share
    # Hash of the parameters that it built, before all ranks received the same ones.
    built_hash: str | None = None
    start_hash: str | None = None  # hash of the parameters that training began with
    param_hash: str | None = None
    steps: int | None = None  # number of steps in its last epoch
    loss: float | None = None  # loss on its own samples in its last epoch
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """Hashes (`text_hash`) of the program that ran, from the run record. None means unknown."""

    main: str | None = None  # name of the program itself
    toolkit: str | None = None
    files: dict[str, str | None] = field(default_factory=dict)  # by name in the program's folder


class Facts:
    """Facts that notebooks also look up by name, as in `run.end["param_spread"]`."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        """Return the fact, or None if it is unknown. A misspelt name is an AttributeError."""
        return getattr(self, name)

    def __contains__(self, name: str) -> bool:
        return self[name] is not None  # without this, Python would try self[0], self[1], …

    def get(self, name: str, default: Any = None) -> Any:
        fact = self[name]
        return default if fact is None else fact


@dataclass(frozen=True, slots=True)
class DataSet(Facts):
    """The data set named in a run's header."""

    name: str | None = None
    sha256: str | None = None
    synthetic: bool | None = None  # whether it is the synthetic stand-in for the real data
    train_samples: float | None = None
    test_samples: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Facts):
    """The facts of a run record's header (docs/run-record.md).

    A missing fact, or one of the wrong type, is None. Where a text is expected, any other value is
    converted to text.
    """

    lesson: str | None = None
    program: str | None = None
    source: str | None = None
    framework: str | None = None
    model: str | None = None
    precision: str | None = None
    scaling: str | None = None
    launcher: str | None = None
    scheduler: str | None = None
    site: str | None = None
    job_id: str | None = None
    device: str | None = None
    started: str | None = None
    params: float | None = None
    world_size: float | None = None
    ranks_asked: float | None = None
    replicas: float | None = None
    replicas_asked: float | None = None
    global_batch: float | None = None
    local_batch: float | None = None
    lr: float | None = None
    lr_base: float | None = None
    seed: float | None = None
    epochs_asked: float | None = None
    image_size: float | None = None
    threads: float | None = None
    dataset: DataSet = DataSet()
    started_by: tuple[str, ...] | None = None
    arguments: tuple[str, ...] | None = None
    others: Mapping[str, Any] = field(default_factory=dict)  # facts with other names, unchanged

    def __getitem__(self, name: str) -> Any:
        """Return the fact with this name, even if it is not a field that the grader knows."""
        return getattr(self, name) if name in HEADER_FACTS else self.others.get(name)


HEADER_FACTS = frozenset(fact.name for fact in fields(Header)) - {"others"}
NO_HEADER = Header()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd(Facts):
    """The end of a run record. None means that a value is missing or is not a number."""

    test_accuracy: float | None = None
    test_loss: float | None = None
    param_moved: float | None = None  # largest change of a parameter during training
    params_changed: float | None = None
    param_spread: float | None = None  # largest difference of a parameter between ranks
    reason: str | None = None  # the exception that ended the program


@dataclass(frozen=True, slots=True)
class MeasureEvent(Facts):
    """A measure that the program itself recorded."""

    name: str
    value: float | None  # None: not a finite number
    unit: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)  # all its members, as recorded
    where: Where | None = None
    written_ms: float | None = None  # wall clock of its line

    def __getitem__(self, name: str) -> Any:
        return self.facts.get(name)

    @property
    def failed(self) -> str | None:
        """Return why the program could not measure it, if the program says so."""
        reason = self.facts.get("failed")
        return str(reason)[:200] if reason else None

    def number(self, name: str) -> float | None:
        """Return the fact of this name if it is a finite number."""
        return plain_number(self.facts.get(name))


def plain_number(value: Any) -> float | None:
    """Return a finite number from decoded JSON unchanged, and None for anything else."""
    usual = type(value) is float or type(value) is int
    return value if usual and -1e300 < value < 1e300 else None


@dataclass(frozen=True, slots=True)
class Run:
    """One training run, separated from other runs in the same files."""

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
    launch: str = ""  # the run's id in the run record
    header: Header = NO_HEADER  # header of the run record, if there is one
    end: RunEnd = RunEnd()
    measures: tuple[MeasureEvent, ...] = ()
    program: Program | None = None  # the record's facts about the program that ran
    began_ms: float | None = None  # wall clock of the record's header and of its run_stop
    ended_ms: float | None = None
    chain_intact: bool | None = None  # None: the format has no chain
    problems: tuple[Note, ...] = ()
    failed_ranks: tuple[str, ...] = ()  # a sentence for each, the first failure first
    unfinished: Epoch | None = None  # the last values of an epoch that began but did not end
    # Places of the facts that are not a Number: "workers", "job_id", "outcome", "header", "end".
    places: dict[str, Where] = field(default_factory=dict)
    is_job_output: bool = True  # False: perhaps only somebody's notes
    sparse: bool = False  # whether the output does not show how many epochs there were
    # Its point, if the run is one pass of a scaling study in one launch.
    point: MeasureEvent | None = None
    id: int = field(default_factory=count().__next__, compare=False)  # kept by `replace`

    @property
    def has_header(self) -> bool:
        return self.header is not NO_HEADER

    @property
    def rank_lines(self) -> tuple[Where, ...]:
        """Return the lines in which the ranks report their participation."""
        return tuple(rank.where for rank in self.ranks if rank.where)

    @property
    def start(self) -> Where | None:
        """Return the place where the run begins: its first rank, or else its first epoch."""
        members: Iterable[Rank | Epoch] = chain(self.ranks, self.epochs)
        return next((member.where for member in members if member.where), None)

    @property
    def host_names(self) -> list[str]:
        return sorted({rank.host for rank in self.ranks if rank.host})

    def measured(self, name: str, /, **at: Any) -> list[MeasureEvent]:
        """Return the recorded measures that have this name and these facts, in order."""
        return [m for m in self.measures if m.name == name and at.items() <= m.facts.items()]
