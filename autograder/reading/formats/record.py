"""Read the course's run record (docs/run-record.md): tagged lines, grouped by their run id."""

from dataclasses import dataclass, field
from typing import Any

from autograder.codes import FindingCode
from autograder.notes import Note
from autograder.reading.formats.record_values import (
    Chain,
    measure_of,
    slice_of,
    typed,
    what_was_read,
    with_files,
)
from autograder.reading.line_facts import make_problem
from autograder.reading.printed_numbers import count, exact, finite
from autograder.records import MeasureEvent, Number, Rank, RunEnd, Where

FORMAT = "record"
# Limits per submission; no run of a course has more.
MOST_LAUNCHES, MOST_PROBLEMS = 5_000, 50
MOST_BYTES = 16 << 20  # bytes of lines; in memory their values may take thirty times as much
LONGEST_END = 2_000  # bytes; only a manipulated end is longer


@dataclass(slots=True)
class RecordLine:
    """A line of the record."""

    key: str
    rank: int
    event: dict[str, Any]
    about: dict[str, Any]  # its metadata
    where: Where
    value: dict[str, Any]  # its value, if that is an object
    epoch: int | None
    written_ms: float | None


@dataclass
class Launch:
    """The facts read so far about one launch."""

    run: str
    first: Where
    last: Where
    files: list[str] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict)  # the facts of both its lines
    # Values for the fields of each Rank and Epoch, by number, and of the Run.
    ranks: dict[int, dict[str, Any]] = field(default_factory=dict)
    epochs: dict[int, dict[str, Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    measures: list[MeasureEvent] = field(default_factory=list)
    status: str | None = None
    places: dict[str, Where] = field(default_factory=dict)  # of the header and the end
    chains: dict[int, Chain] = field(default_factory=dict)
    problems: list[Note] = field(default_factory=list)
    stated: set[tuple] = field(default_factory=set)  # key, rank and epoch of lines written once
    left_out: int = 0  # number of lines
    copies: set[str] = field(default_factory=set)  # files that repeat lines of other files

    def complain(
        self, where: Where, text: str, reason: str, code: FindingCode = FindingCode.NEVER_WRITTEN
    ) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(make_problem(where, text[:80], reason, code))


@dataclass
class Launches:
    """All launches of a submission."""

    by_run: dict[str, Launch] = field(default_factory=dict)
    size: int = 0  # bytes of all lines so far

    def has_room(self, launch: Launch, key: str, rank: int, size: int) -> bool:
        """Return whether the launch has room for another line. An end is always read, once."""
        self.size += size
        is_end = launch.status is None if key == "run_stop" else rank in launch.ranks
        is_end = is_end and key in ("run_stop", "rank_end")
        return self.size <= MOST_BYTES or (is_end and size <= LONGEST_END)


def take(launches: Launches, event: dict[str, Any], payload: bytes, where: Where) -> str:
    """Add a decoded line to its launch, and return the launch's id."""
    about = event.get("metadata")
    about = about if isinstance(about, dict) else {}
    run = about.get("run")
    run = run if isinstance(run, str) and len(run) <= 64 else ""
    launch = launches.by_run.get(run)
    if launch is None:
        if len(launches.by_run) >= MOST_LAUNCHES:
            next(reversed(launches.by_run.values())).left_out += 1
            return run
        launch = launches.by_run[run] = Launch(run, where, where)
    if where.file not in launch.files:
        launch.files.append(where.file)
    rank = count(about.get("rank"))
    chain = launch.chains.get(-1 if rank is None else rank)
    if chain and launch.files[0] != where.file and chain.repeats(payload):
        launch.copies.add(where.file)
        return run
    launch.last = where
    key, value = event.get("key"), event.get("value")
    if not run or rank is None or not isinstance(key, str):
        launch.complain(where, str(key), "the record line has no run, rank or key")
        return run
    has_room = launches.has_room(launch, key, rank, len(payload))
    if has_room or rank in launch.chains:
        chain = launch.chains.setdefault(rank, Chain(run.encode()))
        if chain.breaks(payload, about.get("chain")):
            reason = (
                f"the chain of rank {rank} breaks here: this line was changed, or a line before "
                "it is missing, moved or changed"
            )
            launch.complain(where, key, reason, FindingCode.CHAIN_BROKEN)
    if not has_room:
        launch.left_out += 1
        return run
    value = value if isinstance(value, dict) else {}
    epoch, written_ms = count(about.get("epoch_num"), 1), finite(event.get("time_ms"))
    line = RecordLine(key, rank, event, about, where, value, epoch, written_ms)
    if may_count(launch, line):
        take_line(launch, line)
    return run


# The lines that a rank writes once. epoch_stop comes once per epoch.
ONCE = ("header", "machine", "rank", "rank_end", "epoch_stop", "run_stop")


def may_count(launch: Launch, line: RecordLine) -> bool:
    """Return whether a line counts. Report a line that its rank should not have written."""
    key = line.key, line.rank, line.epoch if line.key == "epoch_stop" else None
    if key in launch.stated:
        what = f"`{line.key}` of epoch {key[2]}" if key[2] else f"`{line.key}`"
        reason = f"rank {line.rank} repeats its line {what}; only the first one counts"
    elif line.rank == 0 or line.key in ("rank", "rank_end"):
        if line.key in ONCE:
            launch.stated.add(key)
        return True
    elif line.key == "measure":  # a median could be outvoted by ranks that do not even exist
        reason = f"rank {line.rank} recorded a measure; only rank 0 records them"
    else:
        return False
    launch.complain(line.where, line.key, reason)
    return False


def take_line(launch: Launch, line: RecordLine) -> None:
    """Add the facts in a line to its launch."""
    match line.key:
        case "header":
            launch.header |= line.value
            launch.places["header"] = line.where
            launch.facts["began_ms"] = line.written_ms
        case "machine":  # the header's second line; a single line would be too long
            launch.header = line.value | launch.header
        case "program":
            launch.facts["program"] = with_files(launch.facts.get("program"), line.value)
        case "rank":
            take_rank(launch, line)
        case "rank_end":
            start = launch.ranks.get(line.rank, {})
            first = {name: start[name] for name in ("where", "samples") if name in start}
            end = {"where": line.where, **typed(Rank, line.value)}
            launch.ranks[line.rank] = start | end | first
        case "epoch_start" if line.epoch is not None:
            launch.epochs.setdefault(line.epoch, {}).setdefault("began_ms", line.written_ms)
        case "epoch_stop":
            take_epoch(launch, line)
        case "eval_accuracy":
            take_evaluation(launch, line)
        case "measure":
            measure = measure_of(line.value, line.where, line.written_ms)
            launch.measures.append(measure)
            if measure.value is None and measure.failed is None:
                reason = "the measure has no finite value"
                launch.complain(line.where, measure.name, reason, FindingCode.READ_PROBLEM)
        case "run_stop":
            take_end(launch, line)


def take_rank(launch: Launch, line: RecordLine) -> None:
    rank, value = line.rank, line.value
    if count(value.get("rank")) != rank:
        reason = f"rank {rank} reports as rank {value.get('rank')!r:.20}"
        launch.complain(line.where, "rank", reason)
    elif rank in launch.ranks:
        launch.complain(line.where, "rank", f"rank {rank} reports its start after its end")
    else:
        if slice_of(value.get("shard")):
            value = value | {"slices": [value["shard"]]}
        launch.ranks[rank] = {"where": line.where, **typed(Rank, value)}


def take_epoch(launch: Launch, line: RecordLine) -> None:
    if line.epoch is None:
        launch.complain(line.where, "epoch_stop", "the epoch has no number")
        return
    value = line.value
    launch.epochs.setdefault(line.epoch, {}).update(
        seconds=quantity(launch, line, "seconds", value.get("seconds")),
        steps=count(value.get("steps"), 1),
        unique_samples=count(value.get("unique_samples"), 1),
        **what_was_read(value.get("read")),
        train_loss=quantity(launch, line, "loss", value.get("loss")),
        train_accuracy=quantity(launch, line, "accuracy", value.get("accuracy")),
        lr=finite(value.get("lr")),
        where=line.where,
        ended_ms=line.written_ms,
    )


def take_evaluation(launch: Launch, line: RecordLine) -> None:
    accuracy = quantity(launch, line, "accuracy", line.event.get("value"))
    loss = quantity(launch, line, "loss", line.about.get("loss"))
    if line.about.get("split") == "test":
        launch.facts |= {"test_accuracy": accuracy, "test_loss": loss}
    elif line.epoch is not None:
        epoch = launch.epochs.setdefault(line.epoch, {})
        epoch |= {"val_accuracy": accuracy, "val_loss": loss}


def take_end(launch: Launch, line: RecordLine) -> None:
    status = line.about.get("status")
    launch.status = status if isinstance(status, str) else ""
    launch.places["end"] = line.where
    tests = "test_accuracy", "test_loss"

    def complain(name: str, reason: str) -> None:
        if name not in tests:  # their numbers are checked below
            launch.complain(line.where, name, reason, FindingCode.READ_PROBLEM)

    launch.facts |= {
        "end": RunEnd(**typed(RunEnd, line.value, complain)),
        "ended_ms": line.written_ms,
        "total_seconds": quantity(launch, line, "seconds", line.value.get("seconds")),
    }
    for name in tests:
        if line.value.get(name) is not None:
            launch.facts[name] = quantity(launch, line, name, line.value[name])


def quantity(launch: Launch, line: RecordLine, name: str, value: Any) -> Number | None:
    """Return a value that must be a number. For anything else, add a problem and return None."""
    if value is None:
        return None
    number, code = exact(value, line.where), FindingCode.NEVER_WRITTEN
    if value in ("nan", "inf", "-inf"):
        reason, code = f"{name} is {value}: the training diverged", FindingCode.READ_PROBLEM
    elif number is None:
        reason = f"{name} should be a number, but is {value!r:.40}"
    elif name.endswith("accuracy") and not 0 <= number.value <= 1:
        reason = f"{name} should be between 0 and 1, but is {number.value:g}"
    elif name == "seconds" and number.value <= 0:
        reason = f"{name} should be above 0, but is {number.value:g}"
    else:
        return number
    launch.complain(line.where, name, reason, code)
    return None
