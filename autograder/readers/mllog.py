"""MLPerf's tagged lines, `:::MLLOG {…}` and the older `:::MLL seconds key: {…}`.

Only lines whose key means something here are decoded. The course's own record has the same form
and its own reader.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.numbers import exact, finite, whole
from autograder.records import Epoch, Number, Problem, Run, Where

FORMAT = "mllog"
TAG = b":::MLL"
LONGEST = 1 << 16
MOST_EPOCHS, MOST_PROBLEMS = 100_000, 50
OLD = re.compile(rb":::MLL (\d{1,12}(?:\.\d{1,9})?) ([A-Za-z_][\w.]{0,80}): ")
KEY = re.compile(rb'"key": ?"([^"\\]{0,80})"')
COURSE = re.compile(rb'"namespace": ?"course"')
WANTED = {
    b"init_start",
    b"run_start",
    b"run_stop",
    b"epoch_start",
    b"epoch_stop",
    b"eval_accuracy",
}


class BadLineError(ValueError):
    """A tagged line that cannot be trusted; the message is for the student."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadLineError("the record line names a member twice")
    return members


def refuse(constant: str) -> None:
    raise BadLineError(f"the record line has the bare word {constant}, which is no JSON number")


STRICT = json.JSONDecoder(object_pairs_hook=unique, parse_constant=refuse)


def decode(payload: bytes) -> dict[str, Any]:
    """The JSON object of a tagged line. Members named twice and NaN are refused, not resolved."""
    if len(payload) > LONGEST:
        raise BadLineError(f"the record line is longer than {LONGEST} bytes")
    try:
        event = STRICT.decode(payload.decode("utf-8"))
    except BadLineError:
        raise
    except RecursionError:
        raise BadLineError("the record line is nested too deeply") from None
    except ValueError:
        raise BadLineError("the record line is damaged: it is not a whole JSON object") from None
    if not isinstance(event, dict):
        raise BadLineError("the record line is not a JSON object")
    return event


def event_of(line: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The event in a line from its tag on, and its JSON text; None if it means nothing here."""
    if line.startswith(b":::MLLOG "):
        payload = line[9:].strip()
        key = KEY.search(payload)
        if key is not None and key[1] not in WANTED and not COURSE.search(payload):
            return None
        return decode(payload), payload
    old = OLD.match(line)
    if old is None:
        if line.startswith(b":::MLL "):
            raise BadLineError("the record line has no time or key")
        return None  # another tool's tag
    if old[2] not in WANTED:
        return None
    payload = line[old.end() :].strip()
    event = decode(payload)
    return {**event, "key": old[2].decode(), "time_ms": float(old[1]) * 1000}, payload


@dataclass
class Benchmark:
    """One MLPerf run, as far as it has been read."""

    file: str
    first: int
    last: int = 0
    inits: int = 0
    started: float | None = None
    stopped: float | None = None
    status: str | None = None
    total_seconds: Number | None = None
    starts: dict[int, float] = field(default_factory=dict)
    epochs: dict[int, dict[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def complain(self, where: Where, text: str, reason: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(where, text, reason))


def take(benchmarks: list[Benchmark], event: dict[str, Any], where: Where) -> Benchmark:
    """Add an event to the run that it belongs to: a new one begins after the end of the last."""
    key, value = event.get("key"), event.get("value")
    about = event.get("metadata")
    about = about if isinstance(about, dict) else {}
    now = finite(event.get("time_ms"))
    run = benchmarks[-1] if benchmarks else None
    if run is None or (key != "run_stop" and run.status is not None) or begins_again(run, key):
        run = Benchmark(where.file, where.line)
        benchmarks.append(run)
    run.last = where.line
    number = whole(about.get("epoch_num"))
    if key == "init_start":
        run.inits += 1
    elif key == "run_start" and run.started is None:
        run.started = now
    elif key == "run_stop" and run.status is None:
        stop(run, now, about.get("status"), where)
    elif key == "epoch_start" and number is not None and now is not None:
        if len(run.starts) < MOST_EPOCHS:
            run.starts.setdefault(number, now)
    elif key == "epoch_stop" and number is not None:
        epoch = epoch_of(run, number, where)
        if "line" not in epoch:
            epoch["line"] = where.line
            epoch["seconds"] = seconds(run, run.starts.get(number), now, f"epoch {number}", where)
    elif key == "eval_accuracy":
        evaluate(run, number, value, where)
    return run


def begins_again(run: Benchmark, key: Any) -> bool:
    return (key == "init_start" and run.started is not None) or (
        key == "run_start" and run.started is not None and bool(run.epochs)
    )


def stop(run: Benchmark, now: float | None, status: Any, where: Where) -> None:
    run.status = status if isinstance(status, str) else ""
    run.stopped = now
    run.total_seconds = seconds(run, run.started, now, "the run", where)


def seconds(
    run: Benchmark, start: float | None, end: float | None, what: str, where: Where
) -> Number | None:
    """The time between two events; whole milliseconds, so half of one on either side."""
    if start is None or end is None:
        return None
    if end <= start:
        run.complain(where, what, f"{what} ends {(start - end) / 1000:g} s before it begins")
        return None
    return Number((end - start) / 1000, 0.001, where)


def epoch_of(run: Benchmark, number: int, where: Where) -> dict[str, Any]:
    if len(run.epochs) >= MOST_EPOCHS and number not in run.epochs:
        return {}
    return run.epochs.setdefault(number, {})


def evaluate(run: Benchmark, number: int | None, value: Any, where: Where) -> None:
    accuracy = exact(value, where)
    if accuracy is None or not 0 <= accuracy.value <= 1:
        run.complain(where, "eval_accuracy", f"the accuracy should be 0 to 1 and is {value!r:.40}")
        return
    if number is None:
        number = max(run.epochs, default=None)
    if number is not None:
        epoch_of(run, number, where).setdefault("accuracy", accuracy)


def to_runs(benchmarks: list[Benchmark]) -> Iterator[Run]:
    for run in benchmarks:
        yield to_run(run)


def to_run(run: Benchmark) -> Run:
    base = 1 if 0 in run.epochs else 0  # some programs count from 0
    epochs = tuple(
        Epoch(
            number + base,
            seconds=said.get("seconds"),
            val_accuracy=said.get("accuracy"),
            where=Where(run.file, said["line"]) if "line" in said else None,
        )
        for number, said in sorted(run.epochs.items())
    )
    return Run(
        files=(run.file,),
        format=FORMAT,
        outcome={None: "incomplete", "success": "completed"}.get(run.status, "failed"),
        workers=run.inits if run.inits > 1 else None,  # one line may be rank 0's alone
        epochs=epochs,
        total_seconds=run.total_seconds,
        problems=tuple(run.problems),
    )
