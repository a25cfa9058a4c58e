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
from lessons.toolkit.ranks.wire import bytes_received, connections

Function = Callable[..., Any]
# For parameters, gradients and Adam's numbers: the first stage that shards them, bytes of each.
SHARED_FROM = {3: 4, 2: 4, 1: 8}
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3, "hsdp": 3}
STEPS = 3
POINTS = 50  # points of a phase in the staircase; the reader takes lists of up to 64


def bytes_so_far() -> int | None:
    """Return the bytes that this rank has received, or None with NCCL, which uses no sockets."""
    return bytes_received() if dist.get_backend() == "gloo" else None


def into_node(nodes: int, step: Callable[[], Any]) -> float:
    """Return the bytes that the ranks of this rank's node receive from other nodes in a step.

    Ranks are numbered node by node. The first step does not count: it makes the connections.
    """
    rank, each = dist.get_rank(), dist.get_world_size() // nodes
    step()
    before = from_ranks()
    for _ in range(STEPS):
        step()
    came = [after - first for after, first in zip(from_ranks(), before, strict=True)]
    outside = sum(many for other, many in enumerate(came) if other // each != rank // each)
    return sum(everyone(outside)[rank // each * each :][:each]) / STEPS


def from_ranks() -> list[int]:
    """Return the bytes that this rank has received from each rank so far."""
    found = connections()
    ends = everyone([own for (own, _), _ in found])
    ranks = {tuple(end): rank for rank, own in enumerate(ends) for end in own}
    came = [0] * len(ends)
    for (_, peer), received in found:
        if peer in ranks:
            came[ranks[peer]] += received
    return came


def everyone(value: Any) -> list[Any]:
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


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
    held: dict[str, int] = {}

    def before_step(most: float) -> None:
        held.update(state_held(shared))
        alive.mark("update")
        shared.before_step(most)

    def model(ids: Any) -> Any:
        scores = shared.model(ids)
        alive.mark("backward")
        return scores

    watched = shared._replace(model=model, before_step=before_step)
    device = next(shared.model.parameters()).device
    alive = Alive(tensors_of(shared))
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    before = bytes_so_far()
    with alive:
        for number in range(STEPS):
            shared.optimizer.zero_grad()  # before the first point of the line
            alive.line.clear()
            alive.counting = number == STEPS - 1  # counting takes longer than a step
            train_step(watched, *pieces, 1.0)
    after = bytes_so_far()
    return {
        "line": alive.line,
        "marks": alive.marks,
        "held": held,
        "gpu_peak": torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None,
        "received": None if before is None or after is None else (after - before) / STEPS,
    }


def tensors_of(shared: Any) -> Iterator[torch.Tensor]:
    """Return all tensors that hold parameters, gradients or optimizer states."""
    return itertools.chain(*kinds(shared))


def kinds(shared: Any) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    params = [*shared.model.parameters()]
    params += [param for group in shared.optimizer.param_groups for param in group["params"]]
    gradients = [param.grad for param in params if param.grad is not None]
    states = [value for each in shared.optimizer.state.values() for value in each.values()]
    states = [value for value in states if isinstance(value, torch.Tensor)]
    return local(params), local(gradients), local(states)


def local(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    return [each.to_local() if isinstance(each, DTensor) else each for each in tensors]


def state_held(shared: Any) -> dict[str, int]:
    names = ("parameters", "gradients", "optimizer")
    return dict(zip(names, map(bytes_of, kinds(shared)), strict=True))


def phases(line: list[int], marks: Mapping[str, int]) -> dict[str, list[int]]:
    backward, update = marks["backward"], marks["update"]
    return {
        "forward": line[: backward + 1],
        "backward": line[backward : update + 1],
        "update": line[update:],
    }


def thinned(line: list[int]) -> list[int]:
    """Reduce a series to at most POINTS values in kilobytes, each a maximum of several values."""
    every = -(-len(line) // POINTS)
    pieces = (line[first : first + every] for first in range(0, len(line), every))
    return [round(max(piece) / 1000) for piece in pieces]


def share(params: int, stage: int, parts: int) -> float:
    """Return the bytes that a rank must hold of the state at the end of the backward pass."""
    return sum(
        each * params / (parts if stage >= first else 1) for first, each in SHARED_FROM.items()
    )


def sizes(
    seen: Mapping[str, Any], way: str, params: int, copies: int = 1
) -> Iterator[tuple[str, float]]:
    """Yield the bytes held and received, also relative to what this way of sharding requires.

    copies: how many the ranks hold together of everything that is sharded.
    """
    ranks, stage, held = dist.get_world_size(), STAGES[way], sum(seen["held"].values())
    yield "state_bytes", held
    yield "held_over_share", held / share(params, stage, ranks // copies)
    yield "peak_bytes", max(seen["line"])
    yield "activation_bytes", seen["line"][seen["marks"]["backward"]] - seen["line"][0]
    if seen["gpu_peak"] is not None:
        yield "peak_over_held", seen["gpu_peak"] / max(seen["line"])
    if seen["received"] is not None and ranks > 1:
        by_ring = (3 if stage == 3 else 2) * (ranks - 1) / ranks * 4 * params
        yield "times_params", seen["received"] / (4 * params)
        yield "bytes_off", abs(seen["received"] / by_ring - 1)


def staircase(seen: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the kilobytes of live tensors during each phase of a step."""
    return {name: thinned(line) for name, line in phases(seen["line"], seen["marks"]).items()}
