"""Watch one step of a pipeline: when each rank computes, what it keeps, and what it receives."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lessons.toolkit.probes.held import saved_for_backward
from lessons.toolkit.ranks.gathering import gathered
from lessons.toolkit.ranks.wire import received_during
from lessons.toolkit.record.run_record import synchronise

PINGS = 16


@dataclass
class Diary:
    """The passes of one rank, with their start and end in seconds on its clock."""

    kinds: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def begin(self, kind: str) -> None:
        synchronise()
        self.kinds.append(kind)
        self.starts.append(time.perf_counter())
        self.ends.append(self.starts[-1])

    def end(self) -> None:
        synchronise()
        self.ends[-1] = time.perf_counter()

    def held(self) -> int:
        """Return the maximum number of micro-batches that wait for their backward pass at once."""
        now = most = 0
        for kind in self.kinds:
            now += 1 if kind == "F" else -1
            most = max(most, now)
        return most


@contextmanager
def diary_of(layers: Any) -> Iterator[Diary]:
    """Record the forward and backward passes during a `with` block.

    The hooks are on the first and the last layer, and on the parameters' gradients.
    """
    diary = Diary()

    def went_forward(layer: Any, inputs: Any, outputs: Any) -> None:
        diary.end()
        if outputs.requires_grad:
            outputs.register_hook(lambda gradient: diary.begin("B"))

    handles = [
        layers[0].register_forward_pre_hook(lambda *_: diary.begin("F")),
        layers[-1].register_forward_hook(went_forward),
        *(
            parameter.register_post_accumulate_grad_hook(lambda _: diary.end())
            for parameter in layers.parameters()
        ),
    ]
    try:
        yield diary
    finally:
        for handle in handles:
            handle.remove()


def ahead_of_rank_0(dist: Any, device: Any) -> float:
    """Return how many seconds this rank's clock is ahead of rank 0's, from the quickest ping.

    With NCCL, `recv` returns before the message has arrived, so each rank waits for its GPU before
    it reads its clock.
    """
    import torch

    rank, found = dist.get_rank(), 0.0
    for other in range(1, dist.get_world_size()):
        best = float("inf")
        for _ in range(PINGS if rank in (0, other) else 0):
            clock = torch.zeros(1, dtype=torch.float64, device=device)
            if rank == 0:
                dist.recv(clock, other)
                synchronise()
                clock[0] = time.perf_counter()
                dist.send(clock, other)
                continue
            asked = time.perf_counter()
            dist.send(clock, 0)
            dist.recv(clock, 0)
            synchronise()
            answered = time.perf_counter()
            if answered - asked < best:
                best = answered - asked
                found = (asked + answered) / 2 - float(clock[0])
    return found


def expected(stage: Any, images: int) -> int:
    """Return the bytes that a stage receives: its inputs, and gradients of its outputs."""
    parameters = list(stage.layers.parameters())
    numbers = stage.width if stage.before is not None else 0
    numbers += len(parameters[-1]) if stage.after is not None else 0  # a bias for each output
    return images * numbers * int(parameters[0].element_size())


def watch_step(
    record: Any, dist: Any, stage: Any, step: Callable[[], Any], images: int, **point: Any
) -> None:
    """Record one step; call this on every rank.

    The record gets, for each rank, the times of its passes (in milliseconds since the first began),
    the micro-batches and bytes that it held, and, with Gloo, its received and expected bytes.
    images: the images of a replica's batch.
    """
    device = next(stage.layers.parameters()).device
    ahead = ahead_of_rank_0(dist, device)
    dist.barrier()
    with saved_for_backward(stage.layers.parameters()) as kept, diary_of(stage.layers) as diary:
        _, received = received_during(step)
    times = [[at - ahead for at in times] for times in (diary.starts, diary.ends)]
    facts = (diary.held(), kept["most"], received, expected(stage, images))
    told = gathered(dist, (stage.replica, "".join(diary.kinds), *times, facts))
    began = min((at for rank in told for at in rank[2]), default=0.0)
    ended = max((at for rank in told for at in rank[3]), default=began)
    idle = 0.0
    for rank, (replica, kinds, starts, ends, (held, most, came, right)) in enumerate(told):
        busy = sum(end - start for start, end in zip(starts, ends, strict=True))
        idle += 1 - busy / (ended - began) if ended > began else 1.0
        value = {"of_rank": rank, "replica": replica, "kinds": kinds, **point}
        value |= {
            name: [round(1e3 * (at - began), 1) for at in times]
            for name, times in (("starts", starts), ("ends", ends))
        }
        record.measure("busy", round(busy, 6), "s", **value)
        record.measure("held", held, "micro-batches", of_rank=rank, bytes=most, **point)
        if came is not None and right:
            off = round(abs(came - right) / right, 5)
            record.measure("bytes_off", off, "", of_rank=rank, bytes=came, **point)
    record.measure("bubble", idle / len(told), "", **point)
