"""Read MLPerf's tagged lines, `:::MLLOG {…}` and the older `:::MLL seconds key: {…}`.

The course's own record has the same form, but a separate reader.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import from_json

from autograder.codes import Outcome
from autograder.reading.printed_numbers import count, exact, finite
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
    # Epochs and blocks by their printed number. Some logs say nothing about single epochs.
    parts: dict[str, dict[int, Part]] = field(default_factory=lambda: {"epoch": {}, "block": {}})
    problems: list[Problem] = field(default_factory=list)

    def complain(self, text: str, reason: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(Where(self.file, self.last), text, reason))


@dataclass
class Benchmarks:
    """All MLPerf runs of a file."""

    runs: list[Benchmark] = field(default_factory=list)
    epochs: int = 0


def take(benchmarks: Benchmarks, event: dict[str, Any], file: str, line: int) -> None:
    """Add an event to its run. An event that follows the end of a run can begin a new run."""
    key, about, now = event["key"], event.get("metadata"), finite(event.get("time_ms"))
    about = about if type(about) is dict else {}
    run = benchmarks.runs[-1] if benchmarks.runs else None
    if run is None or (begins_anew(run, key) and len(benchmarks.runs) < MOST_RUNS):
        run = Benchmark(file, line)
        benchmarks.runs.append(run)
    run.last = line
    kind, _, what = key.partition("_")
    if key == "init_start":
        run.inits += 1
    elif key == "run_start" and run.began_ms is None:
        run.began_ms = now
    elif key == "run_stop" and run.status is None:
        status = about.get("status")
        run.status = status if isinstance(status, str) else ""
        run.total_seconds = seconds(run, run.began_ms, now, "the run")
    elif key == "eval_accuracy":
        number = count(about.get("epoch_num"))
        if number is None:
            number = max(run.parts["epoch"], default=None)
        if part := part_of(benchmarks, run, "epoch", number):
            evaluate(run, part, event.get("value"))
    elif kind == "epoch":
        number = count(about.get("epoch_num"))
        if part := part_of(benchmarks, run, kind, number):
            take_time(run, part, what, now, f"epoch {number}")
    elif kind == "block":
        number, size = count(about.get("first_epoch_num")), count(about.get("epoch_count", 1), 1)
        if part := part_of(benchmarks, run, kind, number, size if what == "start" else None):
            take_time(run, part, what, now, f"block {number}")


def begins_anew(run: Benchmark, key: str) -> bool:
    if run.status is not None:
        return key != "run_stop"
    again = key == "init_start" or (key == "run_start" and bool(run.parts["epoch"]))
    return again and run.began_ms is not None


def part_of(
    benchmarks: Benchmarks, run: Benchmark, kind: str, number: int | None, size: int | None = 1
) -> Part | None:
    """Return an epoch or block of this run. Add it if `size`, its number of epochs, is known."""
    if number is None:
        return None
    part = run.parts[kind].get(number)
    if part is None and size is not None and size <= MOST_EPOCHS - benchmarks.epochs:
        benchmarks.epochs += size
        part = run.parts[kind][number] = Part(size)
    return part


def take_time(run: Benchmark, part: Part, what: str, now: float | None, name: str) -> None:
    """Record the beginning or the end of a part. If several are stated, the first one counts."""
    if what == "start":
        part.began_ms = now if part.began_ms is None else part.began_ms
    elif part.ended is None:
        part.ended = Where(run.file, run.last)
        part.seconds = seconds(run, part.began_ms, now, name)


def seconds(run: Benchmark, start: float | None, end: float | None, what: str) -> Number | None:
    """Return the time between two events, whose timestamps are rounded to milliseconds."""
    if start is None or end is None:
        return None
    if end <= start:
        run.complain(what, f"{what} ends {(start - end) / 1000:g} s before its beginning")
        return None
    return Number((end - start) / 1000, 0.001, Where(run.file, run.last))


def evaluate(run: Benchmark, epoch: Part, value: Any) -> None:
    accuracy = exact(value, Where(run.file, run.last))
    if accuracy is None or not 0 <= accuracy.value <= 1:
        reason = f"the accuracy should be between 0 and 1, but is {value!r:.40}"
        run.complain("eval_accuracy", reason)
    elif epoch.accuracy is None:
        epoch.accuracy = accuracy


# --- runs ---------------------------------------------------------------------------------------


def to_run(run: Benchmark) -> Run:
    numbered, blocks = (sorted(run.parts[kind].items()) for kind in ("epoch", "block"))
    base = 1 if numbered and numbered[0][0] == 0 else 0  # some programs count from 0
    epochs = tuple(
        Epoch(number + base, epoch.seconds, val_accuracy=epoch.accuracy, where=epoch.ended)
        for number, epoch in numbered
        if epoch.ended or epoch.accuracy
    )
    if blocks and not any(epoch.ended for _, epoch in numbered):
        epochs = epochs_of_blocks(blocks, [(n, e.accuracy) for n, e in numbered if e.accuracy])
    outcomes = {None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}
    return Run(
        files=(run.file,),
        format=FORMAT,
        outcome=outcomes.get(run.status, Outcome.FAILED),
        workers=run.inits if run.inits > 1 else None,  # a single line may come from rank 0 alone
        epochs=epochs,
        total_seconds=run.total_seconds,
        problems=tuple(run.problems),
    )


def epochs_of_blocks(
    blocks: list[tuple[int, Part]], checks: list[tuple[int, Number]]
) -> tuple[Epoch, ...]:
    """Return the epochs of all finished blocks, from the numbered blocks and evaluations.

    Each epoch gets an equal share of its block's time. A block's evaluation is assigned to the
    block's last epoch. If their numbers are not evenly spaced, at least one is missing, so none is
    used.
    """
    apart = {check - block for (block, _), (check, _) in zip(blocks, checks, strict=False)}
    if len(checks) > len(blocks) or len(apart) > 1:
        checks = []
    epochs: list[Epoch] = []
    for place, block in enumerate(block for _, block in blocks if block.ended):
        took = block.seconds
        share = took and Number(took.value / block.count, took.half_width, took.where)
        for _ in range(block.count):
            epochs.append(Epoch(len(epochs) + 1, seconds=share, where=block.ended))
        if place < len(checks):
            epochs[-1] = replace(epochs[-1], val_accuracy=checks[place][1])
    return tuple(epochs)
