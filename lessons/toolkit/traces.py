"""Keep the spans of a torch.profiler trace in a small file, with their names and lanes.

A trace has `about` (hardware, versions, date), `lanes`, `names`, `events`, and the time `began_us`
of the first event. An event is [lane, name, start, duration]: two indices, and microseconds since
the first event.
"""

import gzip
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MOST_EVENTS = 4000
DROPPED = ("ProfilerStep", "PyTorch Profiler", "Profiler")
SHORTEST_US = 2.0

Spans = list[tuple[float, float]]


def reduced(profiler: Any, lanes: str = "rank 0", shortest_us: float = SHORTEST_US) -> dict:
    """Return the trace of a stopped torch.profiler.profile: outer operations and named parts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(file))
        whole = json.loads(file.read_text(encoding="utf-8"))
    found, base_us = whole["traceEvents"], whole.get("baseTimeNanoseconds", 0) / 1000
    raw = [
        (str(event["tid"]), event["name"], base_us + float(event["ts"]), float(event["dur"]))
        for event in found
        if event.get("ph") == "X"
        and event.get("cat") in ("cpu_op", "user_annotation", "kernel", "gpu_memcpy")
        and not event["name"].startswith(DROPPED)
    ]
    by_lane: dict[str, list[tuple[str, float, float]]] = {}
    for lane, name, start, duration in raw:
        by_lane.setdefault(lane, []).append((name, start, duration))
    events = []
    for number, spans in enumerate(sorted(by_lane.values(), key=len, reverse=True)):
        events += [
            (f"{lanes}, thread {number + 1}", *each)
            for each in outer(spans)
            if each[2] >= shortest_us
        ]
    return packed(events, {})


def outer(spans: Iterable[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Return the spans, except operations inside other operations. All named parts are kept."""
    kept, until = [], float("-inf")
    for name, start, duration in sorted(spans, key=lambda span: (span[1], -span[2])):
        is_part = name.startswith("part: ")
        if is_part or start >= until:
            kept.append((name, start, duration))
            if not is_part:
                until = start + duration
    return kept


def packed(events: list[tuple[str, str, float, float]], about: Mapping[str, Any]) -> dict:
    """Return the events as a trace, ordered by start, with times relative to the first event."""
    events = sorted(events, key=lambda event: event[2])[:MOST_EVENTS]
    first = events[0][2] if events else 0.0
    lanes = sorted({lane for lane, *_ in events})
    names = sorted({name for _, name, *_ in events})
    place = {lane: number for number, lane in enumerate(lanes)}
    number_of = {name: number for number, name in enumerate(names)}
    return {
        "about": dict(about),
        "began_us": first,
        "lanes": lanes,
        "names": names,
        "events": [
            [place[lane], number_of[name], round(start - first, 1), round(duration, 1)]
            for lane, name, start, duration in events
        ],
    }


def together(traces: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> dict:
    """Merge several traces into one that has the lanes of all of them."""
    events = [
        (trace["lanes"][lane], trace["names"][name], trace["began_us"] + start, duration)
        for trace in traces
        for lane, name, start, duration in trace["events"]
    ]
    return packed(events, about)


def write(file: str | Path, trace: Mapping[str, Any]) -> None:
    text = json.dumps(trace, separators=(",", ":"))
    # mtime=0: the same trace gives the same bytes.
    Path(file).write_bytes(gzip.compress(text.encode(), mtime=0))


def read(file: str | Path) -> dict:
    """Read a trace from a file that `write` created."""
    return json.loads(gzip.decompress(Path(file).read_bytes()))


def spans_of(trace: Mapping[str, Any], *words: str) -> Spans:
    """Return (start, end) in milliseconds for the first rank's events that match one of `words`."""
    rank = trace["lanes"][0].partition(",")[0] if trace["lanes"] else ""
    return [
        (start / 1000, (start + duration) / 1000)
        for lane, name, start, duration in trace["events"]
        if trace["lanes"][lane].startswith(rank)
        and any(word in trace["names"][name] for word in words)
    ]


def length_of(trace: Mapping[str, Any]) -> float:
    """Return the milliseconds from the first event to the end of the last one."""
    return max(start + duration for *_, start, duration in trace["events"]) / 1000


def totals(trace: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """Return (name, count, milliseconds) for the events of the first lane, longest total first."""
    found: dict[str, list[float]] = {}
    for lane, name, _, duration in trace["events"]:
        if lane == 0:
            short = trace["names"][name].removeprefix("autograd::engine::evaluate_function: ")
            found.setdefault(short, []).append(duration / 1000)
    rows = [(name, len(each), sum(each)) for name, each in found.items()]
    return sorted(rows, key=lambda row: -row[2])
