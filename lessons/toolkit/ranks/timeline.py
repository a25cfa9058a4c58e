"""Read Horovod's timeline (the HOROVOD_TIMELINE file): timed activities for each tensor.

The format is that of Chrome's traces: `B` begins an activity of a tensor, `E` ends its latest one.
"""

import itertools
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOW = "a job writes it if the environment variable HOROVOD_TIMELINE names the file"
NEGOTIATE, ALLREDUCE = "NEGOTIATE_ALLREDUCE", "ALLREDUCE"


@dataclass(frozen=True)
class Span:
    """One activity of one tensor. Times are in seconds."""

    tensor: str
    activity: str
    start: float
    end: float


@dataclass(frozen=True)
class Step:
    """A step with the spans of its tensors.

    It lasts from its first negotiation to the first negotiation of the next step.
    """

    start: float
    end: float
    spans: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def exchanging(self) -> float:
        """Return the fraction of the step in which gradients are in transit."""
        return covered(s for s in self.spans if s.activity == ALLREDUCE) / self.seconds

    @property
    def negotiating(self) -> float:
        """Return the fraction of the step in which tensors wait and none is in transit."""
        return covered(self.spans) / self.seconds - self.exchanging


def read_timeline(path: str | Path) -> list[Span]:
    """Return all finished activities in the order in which they started."""
    tensors: dict[int, str] = {}
    open_: dict[int, list[tuple[str, float]]] = defaultdict(list)
    spans = []
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path} is not there: {HOW}")
    for event in events(Path(path).read_text()):
        kind, tensor = event.get("ph"), event.get("pid", 0)
        if kind == "M" and event["name"] == "process_name":
            tensors[tensor] = event["args"].get("name", "")
        elif kind == "B":
            open_[tensor].append((event["name"], event["ts"] / 1e6))
        elif kind == "E" and open_[tensor]:
            activity, start = open_[tensor].pop()
            spans.append(Span(tensors.get(tensor, ""), activity, start, event["ts"] / 1e6))
    return sorted(spans, key=lambda span: span.start)


def events(text: str) -> list[dict[str, Any]]:
    """Return the trace's objects, even if a killed job left the list unfinished."""
    try:
        return list(json.loads(text))
    except json.JSONDecodeError:
        whole = text[: text.rfind("},") + 1]
    try:
        return list(json.loads(whole + "]"))
    except json.JSONDecodeError:
        raise ValueError(f"this is not a Horovod timeline: {HOW}") from None


def covered(spans: Iterable[Span]) -> float:
    """Return the seconds covered by at least one span; overlaps count once."""
    total, until = 0.0, float("-inf")
    for span in sorted(spans, key=lambda span: span.start):
        total += max(0.0, span.end - max(span.start, until))
        until = max(until, span.end)
    return total


def steps(spans: Iterable[Span]) -> list[Step]:
    """Return the training steps. In each training step, every tensor is negotiated once."""
    found: dict[int, list[Span]] = defaultdict(list)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for span in spans:
        if span.activity in (NEGOTIATE, ALLREDUCE):
            seen[span.tensor, span.activity] += 1
            found[seen[span.tensor, span.activity]].append(span)
    starts = [min(span.start for span in found[number]) for number in sorted(found)]
    return [
        Step(start, end, tuple(found[number]))
        for number, (start, end) in zip(sorted(found), itertools.pairwise(starts), strict=False)
    ]


def typical(all_steps: Sequence[Step]) -> tuple[float, float, float]:
    """Return medians over the steps: seconds, and the fractions for exchange and negotiation."""
    if not all_steps:
        raise ValueError(
            "the timeline does not have two steps with an allreduce: did the job use more than "
            "one rank?"
        )
    one, two, three = (
        statistics.median(getattr(step, name) for step in all_steps)
        for name in ("seconds", "exchanging", "negotiating")
    )
    return one, two, three
