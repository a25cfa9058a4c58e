"""Read the course's run record (docs/run-record.md): tagged lines, grouped by their run id."""

from dataclasses import dataclass, field, replace
from typing import Any

from autograder.codes import ProblemCode
from autograder.reading.formats.record_chain import Chain
from autograder.reading.formats.record_values import (
    a_hash,
    counts,
    end_of,
    measure_of,
    only_text,
    slice_of,
    slices_of,
    what_was_read,
    with_files,
)
from autograder.reading.printed_numbers import count, exact, finite
from autograder.records import (
    NO_END,
    Epoch,
    MeasureEvent,
    Number,
    Problem,
    Program,
    Rank,
    RunEnd,
    Where,
)

FORMAT = "record"
# Limits per submission; no run of a course has more.
MOST_LAUNCHES, MOST_PROBLEMS = 5_000, 50
MOST_BYTES = 16 << 20  # bytes of lines; in memory their values may take thirty times as much
LONGEST_END = 2_000  # bytes; only a manipulated end is longer


@dataclass
class Launch:
    """The facts read so far about one launch."""

    run: str
    files: list[str] = field(default_factory=list)
    first: Where | None = None
    last: Where | None = None
    places: dict[str, Where] = field(default_factory=dict)  # of the header and the end
    header: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    program: Program | None = None
    ranks: dict[int, Rank] = field(default_factory=dict)
    epochs: dict[int, Epoch] = field(default_factory=dict)
    epoch_starts: dict[int, float | None] = field(default_factory=dict)
    validations: dict[int, tuple[Number | None, Number | None]] = field(default_factory=dict)
    began_ms: float | None = None
    ended_ms: float | None = None
    test_accuracy: Number | None = None
    test_loss: Number | None = None
    measures: list[MeasureEvent] = field(default_factory=list)
    end: RunEnd = NO_END
    status: str | None = None
    total_seconds: Number | None = None
    chains: dict[int, Chain] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    stated: set[tuple] = field(default_factory=set)  # the keys, ranks and epochs of lines in ONCE
    left_out: int = 0  # number of lines
    copies: set[str] = field(default_factory=set)  # files that repeat lines of other files

    def complain(
        self,
        where: Where,
        text: str,
        reason: str,
        code: ProblemCode = ProblemCode.NEVER_WRITTEN,
    ) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(where, text, reason, code))


@dataclass
class Launches:
    """All launches of a submission."""

    by_run: dict[str, Launch] = field(default_factory=dict)
    size: int = 0  # bytes of all lines so far

    def has_room(self, launch: Launch, key: str, rank: int, size: int) -> bool:
        """Return whether the launch has room for another line.

        End lines are always read, because there are never more of them than start lines.
        """
        self.size += size
        if self.size <= MOST_BYTES:
            return True
        is_end = (key == "run_stop" and launch.status is None) or (
            key == "rank_end" and rank in launch.ranks
        )
        return is_end and size <= LONGEST_END


def take(launches: Launches, event: dict[str, Any], payload: bytes, where: Where) -> str:
    """Add a decoded line to its launch, and return the launch's id."""
    about = event.get("metadata")
    about = about if isinstance(about, dict) else {}
    run = about.get("run")
    run = run if isinstance(run, str) and len(run) <= 64 else ""
    launch = launches.by_run.get(run)
    if launch is None and len(launches.by_run) >= MOST_LAUNCHES:
        return run
    if launch is None:
        launch = launches.by_run[run] = Launch(run, first=where)
    if where.file not in launch.files:
        launch.files.append(where.file)
    rank = count(about.get("rank"))
    chain = launch.chains.get(-1 if rank is None else rank)
    if chain and launch.files[0] != where.file and chain.repeats(payload):
        launch.copies.add(where.file)
        return run
    launch.last = where
    key, value = event.get("key"), event.get("value")
    text = str(key)[:80]
    if not run or rank is None or not isinstance(key, str):
        launch.complain(where, text, "the record line has no run, rank or key")
        return run
    has_room = launches.has_room(launch, key, rank, len(payload))
    if has_room or rank in launch.chains:
        check_chain(launch, rank, about.get("chain"), payload, where, text)
    handler = HANDLERS.get(key)
    epoch = count(about.get("epoch_num"), 1) if key == "epoch_stop" else None
    line = key, rank, epoch
    if not has_room:
        launch.left_out += 1
    elif line in launch.stated:
        what = ONCE[key] + (f" {epoch}" if epoch else "")
        launch.complain(where, text, f"rank {rank} repeats {what}; only the first line counts")
    elif handler is not None and (rank == 0 or key in ("rank", "rank_end")):
        if key in ONCE:
            launch.stated.add(line)
        handler(launch, rank, value if isinstance(value, dict) else {}, event, where)
    elif handler is on_measure:  # a median could be outvoted by ranks that do not even exist
        launch.complain(where, text, f"rank {rank} recorded a measure; only rank 0 records them")
    return run


def check_chain(
    launch: Launch, rank: int, stated: Any, payload: bytes, where: Where, text: str
) -> None:
    """Check that a line's stated hash continues the chain from the previous line.

    Complain once per rank.
    """
    chain = launch.chains.setdefault(rank, Chain(launch.run.encode()))
    if chain.follows(payload, stated) or chain.broken:
        return
    chain.broken = True
    launch.complain(
        where,
        text,
        f"the chain of rank {rank} breaks here: this line was changed, or a line before it is "
        "missing, moved or changed",
        ProblemCode.CHAIN_BROKEN,
    )


def on_header(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    launch.header, launch.places["header"] = value, where
    launch.began_ms = finite(event.get("time_ms"))


def on_machine(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    """Add the facts in the header's second line. A single header line would be too long."""
    launch.machine = value


def on_program(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    launch.program = with_files(launch.program, value)


def on_rank(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    if count(value.get("rank")) != rank:
        launch.complain(where, "rank", f"rank {rank} reports as rank {value.get('rank')!r:.20}")
        return
    if rank in launch.ranks:
        launch.complain(where, "rank", f"rank {rank} reports its start after its end")
        return
    shard = slice_of(value.get("shard"))
    launch.ranks[rank] = Rank(
        rank,
        host=only_text(value.get("host")),
        local_rank=count(value.get("local_rank")),
        device=only_text(value.get("device")),
        samples=count(value.get("samples")),
        slices=(shard,) if shard else slices_of(value.get("slices")),
        shard_ids_hash=only_text(value.get("shard_ids_hash")),
        labels=counts(value.get("labels")),
        built_hash=only_text(value.get("built_hash")),
        where=where,
    )


def on_rank_end(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    begun = launch.ranks.get(rank) or Rank(rank)
    launch.ranks[rank] = replace(
        begun,
        samples=begun.samples if begun.samples is not None else count(value.get("samples")),
        start_hash=only_text(value.get("start_hash")),
        param_hash=only_text(value.get("param_hash")),
        files_written=count(value.get("files_written")),
        steps=count(value.get("steps")),
        loss=finite(value.get("loss")),
        program=a_hash(value.get("program")),
        ended=True,
        where=begun.where or where,
    )


def on_epoch_start(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    number = count(event["metadata"].get("epoch_num"), 1)
    if number is not None:
        launch.epoch_starts.setdefault(number, finite(event.get("time_ms")))


def on_epoch_stop(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    number = count(event["metadata"].get("epoch_num"), 1)
    if number is None:
        launch.complain(where, "epoch_stop", "the epoch has no number")
        return
    launch.epochs[number] = Epoch(
        number,
        seconds=quantity(launch, value, "seconds", where, above_zero=True),
        steps=count(value.get("steps"), 1),
        unique_samples=count(value.get("unique_samples"), 1),
        read=what_was_read(value.get("read")),
        train_loss=quantity(launch, value, "loss", where),
        train_accuracy=quantity(launch, value, "accuracy", where, fraction=True),
        lr=finite(value.get("lr")),
        where=where,
        began_ms=launch.epoch_starts.get(number),
        ended_ms=finite(event.get("time_ms")),
    )


def on_eval(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    about = event["metadata"]
    members = {"accuracy": event.get("value"), "loss": about.get("loss")}
    accuracy = quantity(launch, members, "accuracy", where, fraction=True)
    loss = quantity(launch, members, "loss", where)
    if about.get("split") == "test":
        launch.test_accuracy, launch.test_loss = accuracy, loss
        return
    number = count(about.get("epoch_num"), 1)
    if number is not None:
        launch.validations[number] = (accuracy, loss)


def on_measure(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    measure = measure_of(value, where, finite(event.get("time_ms")))
    if measure.value is None:
        name = measure.name[:80]
        launch.complain(where, name, "the measure has no finite value", ProblemCode.OTHER)
    launch.measures.append(measure)


def on_run_stop(launch: Launch, rank: int, value: dict, event: dict, where: Where) -> None:
    status = event["metadata"].get("status")
    launch.status = status if isinstance(status, str) else ""
    launch.places["end"] = where

    def complain(name: str, reason: str) -> None:
        if name not in ("test_accuracy", "test_loss"):  # their numbers are checked below
            launch.complain(where, name, reason, ProblemCode.OTHER)

    launch.end = end_of(value, complain)
    launch.ended_ms = finite(event.get("time_ms"))
    launch.total_seconds = quantity(launch, value, "seconds", where, above_zero=True)
    if value.get("test_accuracy") is not None:
        launch.test_accuracy = quantity(launch, value, "test_accuracy", where, fraction=True)
    if value.get("test_loss") is not None:
        launch.test_loss = quantity(launch, value, "test_loss", where)


# The lines that a rank writes once. epoch_stop comes once per epoch.
ONCE = {
    "header": "the run's header",
    "machine": "the line about its machine",
    "rank": "its start",
    "rank_end": "its end",
    "epoch_stop": "the end of epoch",
    "run_stop": "the end of the run",
}
HANDLERS = {
    "header": on_header,
    "machine": on_machine,
    "program": on_program,
    "rank": on_rank,
    "epoch_start": on_epoch_start,
    "epoch_stop": on_epoch_stop,
    "eval_accuracy": on_eval,
    "measure": on_measure,
    "rank_end": on_rank_end,
    "run_stop": on_run_stop,
}


def quantity(
    launch: Launch,
    members: dict[str, Any],
    name: str,
    where: Where,
    fraction: bool = False,
    above_zero: bool = False,
) -> Number | None:
    """Return the value of a member that must be a number.

    For anything else, add a problem and return None.
    """
    value = members.get(name)
    if value is None:
        return None
    number = exact(value, where)
    diverged = value in ("nan", "inf", "-inf")
    if diverged:
        reason = f"{name} is {value}: the training diverged"
    elif number is None:
        reason = f"{name} should be a number, but is {value!r:.40}"
    elif fraction and not 0 <= number.value <= 1:
        reason = f"{name} should be between 0 and 1, but is {number.value:g}"
    elif above_zero and number.value <= 0:
        reason = f"{name} should be above 0, but is {number.value:g}"
    else:
        return number
    code = ProblemCode.DIVERGED if diverged else ProblemCode.NEVER_WRITTEN
    launch.complain(where, name, reason, code)
    return None
