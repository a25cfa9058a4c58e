"""One step of a pipeline, seen from outside: when each rank computes, what it keeps and sends."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from lessons.toolkit.record.epoch_clock import synchronise

PINGS = 16


@dataclass
class Diary:
    """Of one rank: what it began and ended, in seconds of its clock."""

    kinds: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    sent: int = 0  # bytes
    bytes_now: int = 0  # that autograd keeps for backward passes
    bytes_most: int = 0

    def begin(self, kind: str) -> None:
        synchronise()
        self.kinds.append(kind)
        self.starts.append(time.perf_counter())
        self.ends.append(self.starts[-1])

    def end(self) -> None:
        synchronise()
        self.ends[-1] = time.perf_counter()

    def held(self) -> int:
        """Micro-batches that had gone forward and not yet back, at most."""
        now = most = 0
        for kind in self.kinds:
            now += 1 if kind == "F" else -1
            most = max(most, now)
        return most


class Kept:
    """An array that autograd keeps; when it lets go, the diary knows."""

    def __init__(self, array: Any, diary: Diary) -> None:
        self.array, self.diary, self.size = array, diary, array.numel() * array.element_size()
        diary.bytes_now += self.size
        diary.bytes_most = max(diary.bytes_most, diary.bytes_now)

    def __del__(self) -> None:
        self.diary.bytes_now -= self.size


@contextmanager
def diary_of(layers: Any, dist: Any) -> Iterator[Diary]:
    """Hooks on the first and the last layer, on what autograd keeps, and on what is sent."""
    import torch

    diary = Diary()
    parameters = {parameter.data_ptr() for parameter in layers.parameters()}
    isend, send = dist.isend, dist.send

    def went_forward(layer: Any, inputs: Any, outputs: Any) -> None:
        diary.end()
        if outputs.requires_grad:
            outputs.register_hook(lambda gradient: diary.begin("B"))

    def keep(array: Any) -> Any:
        return array if array.untyped_storage().data_ptr() in parameters else Kept(array, diary)

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def sending(tensor: Any, *words: Any, **named: Any) -> Any:
            diary.sent += tensor.numel() * tensor.element_size()
            return function(tensor, *words, **named)

        return sending

    with ExitStack() as stack:
        handles = [
            layers[0].register_forward_pre_hook(lambda *_: diary.begin("F")),
            layers[-1].register_forward_hook(went_forward),
            *(
                parameter.register_post_accumulate_grad_hook(lambda _: diary.end())
                for parameter in layers.parameters()
            ),
        ]
        for handle in handles:
            stack.callback(handle.remove)
        stack.enter_context(patch.object(dist, "isend", counted(isend)))
        stack.enter_context(patch.object(dist, "send", counted(send)))
        stack.enter_context(
            torch.autograd.graph.saved_tensors_hooks(
                keep, lambda kept: kept.array if isinstance(kept, Kept) else kept
            )
        )
        yield diary


def ahead_of_rank_0(dist: Any, device: Any) -> float:
    """Seconds by which this rank's clock is ahead of rank 0's, by the quickest of some pings."""
    import torch

    rank, found = dist.get_rank(), 0.0
    for other in range(1, dist.get_world_size()):
        best = float("inf")
        for _ in range(PINGS if rank in (0, other) else 0):
            clock = torch.zeros(1, dtype=torch.float64, device=device)
            if rank == 0:
                dist.recv(clock, other)
                clock[0] = time.perf_counter()
                dist.send(clock, other)
                continue
            asked = time.perf_counter()
            dist.send(clock, 0)
            dist.recv(clock, 0)
            answered = time.perf_counter()
            if answered - asked < best:
                best = answered - asked
                found = (asked + answered) / 2 - float(clock[0])
    return found


def watch_step(
    record: Any, dist: Any, stage: Any, step: Callable[[], Any], **point: Any
) -> None:  # fmt: skip
    """On every rank: one step, and into the record for each rank when it computed (milliseconds
    since the first began), how many micro-batches and bytes it held, and how many bytes it sent."""
    device = next(stage.layers.parameters()).device
    ahead = ahead_of_rank_0(dist, device)
    dist.barrier()
    with diary_of(stage.layers, dist) as diary:
        step()
    told: list[Any] = [None] * dist.get_world_size()
    times = [[at - ahead for at in times] for times in (diary.starts, diary.ends)]
    facts = (diary.held(), diary.bytes_most, diary.sent)
    dist.all_gather_object(told, (stage.replica, "".join(diary.kinds), *times, facts))
    began = min((at for rank in told for at in rank[2]), default=0.0)
    ended = max((at for rank in told for at in rank[3]), default=began)
    idle = 0.0
    for rank, (replica, kinds, starts, ends, (held, kept, sent)) in enumerate(told):
        busy = sum(end - start for start, end in zip(starts, ends, strict=True))
        idle += 1 - busy / (ended - began) if ended > began else 1.0
        value = {"of_rank": rank, "replica": replica, "kinds": kinds, **point}
        value |= {
            name: [round(1e3 * (at - began), 1) for at in times]
            for name, times in (("starts", starts), ("ends", ends))
        }
        record.measure("busy", round(busy, 6), "s", **value)
        record.measure("held", held, "micro-batches", of_rank=rank, bytes=kept, **point)
        record.measure("bytes_sent", sent, "bytes", of_rank=rank, **point)
    record.measure("bubble", idle / len(told), "", **point)
