"""Measure what ranks hold and receive when a network's state is sharded.

All ranks call these functions. The package does not import this file, because it needs PyTorch.
"""

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lessons.toolkit.probes.held import bytes_of
from lessons.toolkit.ranks.gathering import gathered
from lessons.toolkit.ranks.wire import connections, received_during

Function = Callable[..., Any]
# For parameters, gradients and Adam's numbers: the first stage that shards them, bytes of each.
SHARED_FROM = {3: 4, 2: 4, 1: 8}
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3, "hsdp": 3}
STEPS = 3
POINTS = 50  # points of a phase in the staircase; the reader takes lists of up to 64


def into_node(nodes: int, step: Callable[[], Any]) -> float:
    """Return the bytes that the ranks of this rank's node receive from other nodes in a step.

    Ranks are numbered node by node. The first step does not count: it makes the connections.
    """
    rank, each = dist.get_rank(), dist.get_world_size() // nodes

    def from_outside() -> int:
        found = connections()
        ends = gathered(dist, [own for (own, _), _ in found])
        nodes_of = {tuple(end): other // each for other, own in enumerate(ends) for end in own}
        here = rank // each
        return sum(number for (_, peer), number in found if nodes_of.get(peer, here) != here)

    step()
    before = from_outside()
    for _ in range(STEPS):
        step()
    came = gathered(dist, from_outside() - before)
    return sum(came[rank // each * each :][:each]) / STEPS


class Alive(TorchDispatchMode):
    """Record the bytes of all live tensors after every operation, while `counting`."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.storages: dict[int, weakref.ref[Any]] = {}
        self.line: list[int] = []
        self.marks: dict[str, int] = {}
        self.counting = True
        for tensor in tensors:
            self.see(tensor)

    def see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        self.storages[storage._cdata] = weakref.ref(storage)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if any(issubclass(each, DTensor) for each in types):
            return NotImplemented  # it will come again, as operations on its local parts
        result = func(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor) and not isinstance(each, DTensor):
                self.see(each)
        self.note()
        return result

    def note(self) -> None:
        if not self.counting:
            return
        total = 0
        for key, reference in list(self.storages.items()):
            storage = reference()
            if storage is None:
                del self.storages[key]
            else:
                total += storage.nbytes()
        self.line.append(total)

    def mark(self, name: str) -> None:
        self.note()
        self.marks[name] = len(self.line) - 1


def watch_steps(shared: Any, train_step: Function, pieces: Any) -> dict[str, Any]:
    """Return the bytes received per step, and of live tensors in the last of three steps.

    "held" has the state after the backward pass.
    """
    held: list[int] = []

    def before_step(most: float) -> None:
        held[:] = map(bytes_of, kinds(shared))
        alive.mark("update")
        shared.before_step(most)

    def model(ids: Any) -> Any:
        scores = shared.model(ids)
        alive.mark("backward")
        return scores

    watched = shared._replace(model=model, before_step=before_step)

    def steps() -> None:
        for number in range(STEPS):
            shared.optimizer.zero_grad()  # before the first point of the line
            alive.line.clear()
            alive.counting = number == STEPS - 1  # counting takes longer than a step
            train_step(watched, *pieces, 1.0)

    alive = Alive(itertools.chain(*kinds(shared)))
    with alive:
        _, received = received_during(steps)
    return {"line": alive.line, "marks": alive.marks, "held": sum(held), "received": received}


def kinds(shared: Any) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """Return all tensors that hold parameters, gradients and optimizer states."""
    params = [*shared.model.parameters()]
    params += [param for group in shared.optimizer.param_groups for param in group["params"]]
    gradients = [param.grad for param in params if param.grad is not None]
    states = [value for each in shared.optimizer.state.values() for value in each.values()]
    states = [value for value in states if isinstance(value, torch.Tensor)]
    return local(params), local(gradients), local(states)


def local(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    return [each.to_local() if isinstance(each, DTensor) else each for each in tensors]


def thinned(line: list[int]) -> list[int]:
    """Reduce a series to at most POINTS values in kilobytes, each a maximum of several values."""
    every = -(-len(line) // POINTS)
    pieces = (line[first : first + every] for first in range(0, len(line), every))
    return [round(max(piece) / 1000) for piece in pieces]


def sizes(
    seen: Mapping[str, Any], way: str, params: int, copies: int = 1
) -> Iterator[tuple[str, float]]:
    """Yield the bytes held and received, also relative to what this way of sharding requires.

    copies: how many the ranks hold together of everything that is sharded.
    """
    ranks, stage = dist.get_world_size(), STAGES[way]
    parts = {first: ranks // copies if stage >= first else 1 for first in SHARED_FROM}
    needed = sum(each * params / parts[first] for first, each in SHARED_FROM.items())
    yield "state_bytes", seen["held"]
    yield "held_over_share", seen["held"] / needed
    yield "peak_bytes", max(seen["line"])
    yield "activation_bytes", seen["line"][seen["marks"]["backward"]] - seen["line"][0]
    if seen["received"] is not None and ranks > 1:
        times = seen["received"] / STEPS / (4 * params)
        yield "times_params", times
        yield "bytes_off", abs(times / ((3 if stage == 3 else 2) * (ranks - 1) / ranks) - 1)


def staircase(seen: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the kilobytes of live tensors during each phase of a step."""
    line, backward, update = seen["line"], seen["marks"]["backward"], seen["marks"]["update"]
    phases = {
        "forward": line[: backward + 1],
        "backward": line[backward : update + 1],
        "update": line[update:],
    }
    return {name: thinned(line) for name, line in phases.items()}
