"""Read MLPerf's tagged lines, `:::MLLOG {…}` and the older `:::MLL seconds key: {…}`.

The course's own record has the same form, but a separate reader.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import from_json

from autograder.codes import Outcome
from autograder.reading.printed_numbers import finite
from autograder.records import Epoch, Number, Problem, Run, Where

FORMAT = "mllog"
TAG = b":::MLL"
LONGEST = 1 << 16
# Limits per file; no benchmark prints more.
MOST_RUNS, MOST_EPOCHS, MOST_PROBLEMS = 5_000, 20_000, 50
OLD = re.compile(rb":::MLL (?P<time>\d{1,12}(?:\.\d{1,9})?) (?P<key>[A-Za-z_]\w{0,80}): ")
# MLPerf has lines with other keys too, which are not needed here.
KEYS = {
    *("init_start", "run_start", "run_stop", "epoch_start", "epoch_stop", "eval_accuracy"),
    *("block_start", "block_stop"),
}
BEGINNINGS = {"init_start", "run_start"}
OF_EPOCHS = {"epoch_start", "epoch_stop", "eval_accuracy"}


class BadLineError(ValueError):
    """A tagged line that cannot be trusted. Students read the message."""


def event_of(line: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the event in a line that begins with the tag, and the event's JSON text."""
    if line[:9] == b":::MLLOG ":
        payload = line[9:].strip()
        return decode(payload), payload
    old = OLD.match(line)
    if old is None:
        raise BadLineError("the record line has no time or key")
    payload = line[old.end() :].strip()
    event = decode(payload)
    return {**event, "key": old["key"].decode(), "time_ms": float(old["time"]) * 1000}, payload


def decode(payload: bytes) -> dict[str, Any]:
    """Return the JSON object of a tagged line. NaN is refused.

    If a member is repeated, the last one counts, as in MLPerf's parser.
    """
    if len(payload) > LONGEST:
        raise BadLineError(f"the record line is longer than {LONGEST} bytes")
    try:
        event = from_json(payload, allow_inf_nan=False)
    except ValueError:
        raise BadLineError("the record line is damaged: it is not a whole JSON object") from None
    if type(event) is not dict:
        raise BadLineError("the record line is not a JSON object")
    return event


@dataclass(slots=True)
class Part:
    """The facts read so far about an epoch, or a block of epochs timed and evaluated together."""

    count: int = 1  # number of epochs
    began_ms: float | None = None
    ended: Where | None = None
    seconds: Number | None = None
    accuracy: Number | None = None  # of an epoch


@dataclass
class Benchmark:
    """The facts of one MLPerf run, read so far."""

    file: str
    first: int  # line numbers
    last: int = 0
    inits: int = 0  # number of processes that report their start
    began_ms: float | None = None
    status: str | None = None  # None: the run has not ended
    total_seconds: Number | None = None
    epochs: dict[int, Part] = field(default_factory=dict)  # keys are the printed numbers
    # Blocks by their printed number, for logs that say nothing about single epochs.
    blocks: dict[int, Part] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def complain(self, line: int, text: str, reason: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(Where(self.file, line), text, reason))


@dataclass
class Benchmarks:
    """All MLPerf runs of a file."""

    runs: list[Benchmark] = field(default_factory=list)
    epochs: int = 0


def take(benchmarks: Benchmarks, event: dict[str, Any], file: str, line: int) -> None:
    """Add an event to its run. An event that follows the end of a run can begin a new run."""
    key, about = event["key"], event.get("metadata")
    if type(about) is not dict:
        about = {}
    run = benchmarks.runs[-1] if benchmarks.runs else None
    if run is None or (
        (run.status is not None or key in BEGINNINGS)
        and begins_anew(run, key)
        and len(benchmarks.runs) < MOST_RUNS
    ):
        run = Benchmark(file, line)
        benchmarks.runs.append(run)
    run.last = line
    if key in OF_EPOCHS:
        number = about.get("epoch_num")
        # The same check as in `count`, without a function call per line.
        if type(number) is not int or not 0 <= number <= 10**15:
            number = max(run.epochs, default=None) if key == "eval_accuracy" else None
        if number is not None:
            epoch = run.epochs.get(number) or new_epoch(benchmarks, run, number)
            if key == "eval_accuracy":
                evaluate(run, epoch, event.get("value"), line)
            else:
                take_time(run, epoch, number, event, line)
    elif key in ("block_start", "block_stop"):
        take_of_block(benchmarks, run, event, about, line)
    elif key == "init_start":
        run.inits += 1
    elif key == "run_start" and run.began_ms is None:
        run.began_ms = finite(event.get("time_ms"))
    elif key == "run_stop" and run.status is None:
        status = about.get("status")
        run.status = status if isinstance(status, str) else ""
        now = finite(event.get("time_ms"))
        run.total_seconds = seconds(run, run.began_ms, now, "the run", line)


def take_time(run: Benchmark, part: Part, number: int, event: dict[str, Any], line: int) -> None:
    """Record the beginning or the end of an epoch or block.

    If several are stated, the first one counts.
    """
    now = finite(event.get("time_ms"))
    what, _, which = event["key"].partition("_")
    if which == "start":
        part.began_ms = now if part.began_ms is None else part.began_ms
    elif part.ended is None:
        part.ended = Where(run.file, line)
        part.seconds = seconds(run, part.began_ms, now, f"{what} {number}", line)


def take_of_block(
    benchmarks: Benchmarks, run: Benchmark, event: dict[str, Any], about: dict[str, Any], line: int
) -> None:
    number, count = about.get("first_epoch_num"), about.get("epoch_count", 1)
    if type(number) is not int:
        return
    block = run.blocks.get(number)
    fits = type(count) is int and 0 < count <= MOST_EPOCHS - benchmarks.epochs
    if block is None and fits and event["key"] == "block_start":
        benchmarks.epochs += count
        block = run.blocks[number] = Part(count)
    if block is not None:
        take_time(run, block, number, event, line)


def begins_anew(run: Benchmark, key: Any) -> bool:
    if run.status is not None:
        return key != "run_stop"
    if run.began_ms is None:
        return False
    return key == "init_start" or (key == "run_start" and bool(run.epochs))


def seconds(
    run: Benchmark, start: float | None, end: float | None, what: str, line: int
) -> Number | None:
    """Return the time between two events, whose timestamps are rounded to milliseconds."""
    if start is None or end is None:
        return None
    if end <= start:
        run.complain(line, what, f"{what} ends {(start - end) / 1000:g} s before its beginning")
        return None
    return Number((end - start) / 1000, 0.001, Where(run.file, line))


def new_epoch(benchmarks: Benchmarks, run: Benchmark, number: int) -> Part:
    epoch = Part()
    if benchmarks.epochs < MOST_EPOCHS:  # otherwise nothing stores it
        benchmarks.epochs += 1
        run.epochs[number] = epoch
    return epoch


def evaluate(run: Benchmark, epoch: Part, value: Any, line: int) -> None:
    accuracy = finite(value)
    if accuracy is None or not 0 <= accuracy <= 1:
        reason = f"the accuracy should be between 0 and 1, but is {value!r:.40}"
        run.complain(line, "eval_accuracy", reason)
    elif epoch.accuracy is None:
        epoch.accuracy = Number(accuracy, 0.0, Where(run.file, line))


# --- runs ---------------------------------------------------------------------------------------


def to_run(run: Benchmark) -> Run:
    base = 1 if 0 in run.epochs else 0  # some programs count from 0
    epochs = tuple(
        Epoch(
            number + base,
            seconds=epoch.seconds,
            val_accuracy=epoch.accuracy,
            where=epoch.ended,
        )
        for number, epoch in sorted(run.epochs.items())
        if epoch.ended or epoch.accuracy
    )
    if run.blocks and not any(epoch.ended for epoch in run.epochs.values()):
        epochs = epochs_of_blocks(run)
    return Run(
        files=(run.file,),
        format=FORMAT,
        outcome={None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}.get(
            run.status, Outcome.FAILED
        ),
        workers=run.inits if run.inits > 1 else None,  # a single line may come from rank 0 alone
        epochs=epochs,
        total_seconds=run.total_seconds,
        problems=tuple(run.problems),
    )


def epochs_of_blocks(run: Benchmark) -> tuple[Epoch, ...]:
    """Return the epochs of all finished blocks.

    Each epoch gets an equal share of its block's time. A block's evaluation is assigned to the
    block's last epoch, whatever epoch number it reports.
    """
    ended = [block for _, block in sorted(run.blocks.items()) if block.ended]
    checks = checks_of_blocks(run)
    epochs: list[Epoch] = []
    for place, block in enumerate(ended):
        took = block.seconds
        share = took and Number(took.value / block.count, took.half_width, took.where)
        check = checks[place] if place < len(checks) else None
        for _ in range(block.count):
            epochs.append(Epoch(len(epochs) + 1, seconds=share, where=block.ended))
        epochs[-1] = replace(epochs[-1], val_accuracy=check)
    return tuple(epochs)


def checks_of_blocks(run: Benchmark) -> list[Number]:
    """Return the blocks' evaluations in order, or [] if one in the middle is missing.

    The number of an evaluation and that of its block always differ by the same amount.
    """
    blocks = sorted(run.blocks)
    checks = [(number, e.accuracy) for number, e in sorted(run.epochs.items()) if e.accuracy]
    apart = {number - block for block, (number, _) in zip(blocks, checks, strict=False)}
    if len(checks) > len(blocks) or len(apart) > 1:
        return []
    return [accuracy for _, accuracy in checks]
