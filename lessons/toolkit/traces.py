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
SHORTEST_US = 2.0  # of the CPU's operations; a GPU's kernels are often shorter
CALLS = ("cuda_runtime", "cuda_driver")  # such as cudaLaunchKernel, inside an operation
ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
COMMUNICATION = ("gloo:", "ncclDevKernel", "ncclKernel")  # words in the names of what sends

Spans = list[tuple[float, float]]


def reduced(profiler: Any, lanes: str = "rank 0", shortest_us: float = SHORTEST_US) -> dict:
    """Return the trace of a stopped torch.profiler.profile: outer operations and named parts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(file))
        whole = json.loads(file.read_text(encoding="utf-8"))
    base_us = whole.get("baseTimeNanoseconds", 0) / 1000
    by_lane: dict[tuple[bool, str, str], list[tuple[str, float, float, bool]]] = {}
    for event in whole["traceEvents"]:
        kind, name = event.get("cat"), event.get("name", "")
        if (
            event.get("ph") == "X"
            and kind in ("cpu_op", "user_annotation", *CALLS, *ON_GPU)
            and not name.startswith(DROPPED)
        ):
            lane = (kind in ON_GPU, str(event["pid"]), str(event["tid"]))
            span = (name, base_us + float(event["ts"]), float(event["dur"]), kind in CALLS)
            by_lane.setdefault(lane, []).append(span)
    events, count = [], {False: 0, True: 0}
    for (on_gpu, *_), spans in sorted(by_lane.items(), key=lambda lane: -len(lane[1])):
        count[on_gpu] += 1
        lane_name = f"{lanes}, {'stream' if on_gpu else 'thread'} {count[on_gpu]}"
        kept = [span[:3] for span in spans] if on_gpu else outer(spans)
        events += [(lane_name, *each) for each in kept if on_gpu or each[2] >= shortest_us]
    return packed(events, {})


def outer(spans: Iterable[tuple[str, float, float, bool]]) -> list[tuple[str, float, float]]:
    """Return the spans, except operations inside other operations.

    All named parts are kept, and so are all calls of the GPU's runtime, the last field of a span.
    """
    kept, until = [], float("-inf")
    for name, start, duration, is_call in sorted(spans, key=lambda span: (span[1], -span[2])):
        inside = is_call or name.startswith("part: ")
        if inside or start >= until:
            kept.append((name, start, duration))
            if not inside:
                until = start + duration
    return kept


def packed(events: list[tuple[str, str, float, float]], about: Mapping[str, Any]) -> dict:
    """Return the events as a trace, ordered by start, with times relative to the first event."""
    longest = sorted(events, key=lambda event: -event[3])[:MOST_EVENTS]
    events = sorted(longest, key=lambda event: event[2])
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
