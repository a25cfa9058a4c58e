"""Read MLPerf's tagged lines, `:::MLLOG {…}` and the older `:::MLL seconds key: {…}`.

The course's own record has the same form, but a separate reader.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from autograder.reading.printed_numbers import finite
from autograder.records import Number, Problem, Where

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
class BenchmarkEpoch:
    """The facts of one epoch of an MLPerf run, read so far."""

    began_ms: float | None = None
    ended: int | None = None  # line of its end
    seconds: Number | None = None
    accuracy: Number | None = None


@dataclass(slots=True)
class Block:
    """A block of epochs that are timed and evaluated together."""

    count: int  # number of epochs
    began_ms: float | None
    ended: int | None = None  # line of its end
    seconds: Number | None = None


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
    epochs: dict[int, BenchmarkEpoch] = field(default_factory=dict)  # keys are the printed numbers
    # Blocks by their printed number, for logs that say nothing about single epochs.
    blocks: dict[int, Block] = field(default_factory=dict)
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
            take_of_epoch(run, number, epoch, event, line)
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


def take_of_epoch(
    run: Benchmark, number: int, epoch: BenchmarkEpoch, event: dict[str, Any], line: int
) -> None:
    """Add an event of an epoch. If several lines state the same fact, the first one counts."""
    key = event["key"]
    if key == "eval_accuracy":
        evaluate(run, epoch, event.get("value"), line)
    elif key == "epoch_start":
        if epoch.began_ms is None:
            epoch.began_ms = finite(event.get("time_ms"))
    elif epoch.ended is None:
        now = finite(event.get("time_ms"))
        epoch.ended = line
        epoch.seconds = seconds(run, epoch.began_ms, now, f"epoch {number}", line)


def take_of_block(
    benchmarks: Benchmarks, run: Benchmark, event: dict[str, Any], about: dict[str, Any], line: int
) -> None:
    number, count = about.get("first_epoch_num"), about.get("epoch_count", 1)
    if type(number) is not int:
        return
    now, block = finite(event.get("time_ms")), run.blocks.get(number)
    if event["key"] == "block_start":
        fits = type(count) is int and 0 < count <= MOST_EPOCHS - benchmarks.epochs
        if block is None and fits:
            benchmarks.epochs += count
            run.blocks[number] = Block(count, now)
    elif block is not None and block.ended is None:
        block.ended = line
        block.seconds = seconds(run, block.began_ms, now, f"block {number}", line)


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


def new_epoch(benchmarks: Benchmarks, run: Benchmark, number: int) -> BenchmarkEpoch:
    epoch = BenchmarkEpoch()
    if benchmarks.epochs < MOST_EPOCHS:  # otherwise nothing stores it
        benchmarks.epochs += 1
        run.epochs[number] = epoch
    return epoch


def evaluate(run: Benchmark, epoch: BenchmarkEpoch, value: Any, line: int) -> None:
    if epoch.accuracy is not None and type(value) is float and 0 <= value <= 1:
        return
    accuracy = finite(value)
    if accuracy is None or not 0 <= accuracy <= 1:
        reason = f"the accuracy should be between 0 and 1, but is {value!r:.40}"
        run.complain(line, "eval_accuracy", reason)
    elif epoch.accuracy is None:
        epoch.accuracy = Number(accuracy, 0.0, Where(run.file, line))
