"""Horovod's timeline: what it did for each tensor, and when; written where HOROVOD_TIMELINE says.

The file has the form of Chrome's traces: `B` begins an activity of a tensor, `E` ends its latest.
"""

import itertools
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOW = "it is written by a job that has HOROVOD_TIMELINE, the name of the file, in its environment"
NEGOTIATE, ALLREDUCE = "NEGOTIATE_ALLREDUCE", "ALLREDUCE"


@dataclass(frozen=True)
class Span:
    """One activity of one tensor; times in seconds."""

    tensor: str
    activity: str
    start: float
    end: float


@dataclass(frozen=True)
class Step:
    """From the first negotiation of a step to that of the next; spans of this step's tensors."""

    start: float
    end: float
    spans: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        return self.end - self.start

    @property
    def exchanging(self) -> float:
        """The part of the step in which gradients travel."""
        return covered(s for s in self.spans if s.activity == ALLREDUCE) / self.seconds

    @property
    def negotiating(self) -> float:
        """The part in which some tensor waits until all ranks have it, and none travels."""
        return covered(self.spans) / self.seconds - self.exchanging


def read_timeline(path: str | Path) -> list[Span]:
    """All activities in the order in which they began; one that was cut off is left out."""
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
    """The trace's objects; a job that was ended leaves a list without its end."""
    try:
        return list(json.loads(text))
    except json.JSONDecodeError:
        whole = text[: text.rfind("},") + 1]
    try:
        return list(json.loads(whole + "]"))
    except json.JSONDecodeError:
        raise ValueError(f"this is not a timeline of Horovod: {HOW}") from None


def covered(spans: Iterable[Span]) -> float:
    """Seconds in which at least one of the spans is on; where they overlap, time counts once."""
    total, until = 0.0, float("-inf")
    for span in sorted(spans, key=lambda span: span.start):
        total += max(0.0, span.end - max(span.start, until))
        until = max(until, span.end)
    return total


def steps(spans: Iterable[Span]) -> list[Step]:
    """The training's steps: every tensor is negotiated once in each."""
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
    """Medians over the steps: seconds, part in which gradients travel, part of negotiating."""
    if not all_steps:
        raise ValueError("the timeline has no two steps with an allreduce: did several ranks run?")
    one, two, three = (
        statistics.median(getattr(step, name) for step in all_steps)
        for name in ("seconds", "exchanging", "negotiating")
    )
    return one, two, three
