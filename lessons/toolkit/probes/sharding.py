"""Measure what ranks hold and receive when a network's state is sharded.

All ranks call these functions. The package does not import this file, because it needs PyTorch.
"""

import copy
import itertools
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lessons.toolkit.probes.held import bytes_of, share_off
from lessons.toolkit.probes.refusal import tell
from lessons.toolkit.ranks.wire import bytes_received
from lessons.toolkit.record import Record

Function = Callable[..., Any]
CHARACTERS, LENGTH, TEXTS, RATE = 11, 8, 2, 0.01  # texts: on each rank
# Largest norm of the gradients in each step. The second and fourth are clipped, the others are not:
# Adam would not notice if all gradients were too large by one factor.
MOST = (1e3, 0.05, 1e3, 0.05)
EACH = {"float32": (4, 4, 8), "mixed": (2, 2, 12)}  # bytes of a parameter: see SHARED_FROM
SHARED_FROM = {"parameters": 3, "gradients": 2, "optimizer": 1}  # the first stage that shards it
STAGES = {"ddp": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}
POINTS = 50  # points of a phase in the staircase; the reader takes lists of up to 64


def serial_error(share_out: Function, train_step: Function, gpt: Function, device: Any) -> float:
    """Return the largest difference from single-process parameters, after steps in float64.

    The single process reads the texts of all ranks. The difference is infinite if the steps fail.
    """
    rank, size = dist.get_rank(), dist.get_world_size()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1000)
        network = gpt(CHARACTERS, LENGTH, layers=2, width=16, heads=2).double().to(device)
        texts = torch.randint(0, CHARACTERS, (len(MOST), TEXTS * size, LENGTH + 1)).to(device)
    right = serial_steps(copy.deepcopy(network), texts)
    try:
        shared = share_out(network=network, lr=RATE)
        for step, most in zip(texts, MOST, strict=True):
            own = step[rank * TEXTS : (rank + 1) * TEXTS]
            train_step(shared, own[:, :-1], own[:, 1:], most)
        found = shared.whole()
        errors = [float((one - other).abs().max()) for one, other in zip(found, right, strict=True)]
    except Exception as raised:
        tell("the difference from one network", raised)
        return math.inf
    return max(errors) if all(map(math.isfinite, errors)) else math.inf


def serial_steps(network: Any, texts: torch.Tensor) -> list[torch.Tensor]:
    """Return the parameters after one process takes the same steps with all ranks' texts."""
    params = list(network.parameters())
    optimizer = torch.optim.AdamW(params, RATE, betas=(0.9, 0.99))
    for step, most in zip(texts, MOST, strict=True):
        optimizer.zero_grad()
        scores = network(step[:, :-1])
        torch.nn.functional.cross_entropy(scores.flatten(0, 1), step[:, 1:].flatten()).backward()
        torch.nn.utils.clip_grad_norm_(params, most)
        optimizer.step()
    return [param.detach() for param in params]


def bytes_so_far() -> int | None:
    """Return the bytes that this rank has received, or None with NCCL, which uses no sockets."""
    return bytes_received() if dist.get_backend() == "gloo" else None


def note_bytes(
    record: Record, way: str, before: int | None, steps: int, params: int, ranks: int
) -> None:
    """Record the bytes received per step, and their difference from what a ring sends."""
    after = bytes_so_far()
    if after is None or before is None or ranks == 1:
        return
    received = (after - before) / steps
    by_ring = (3 if STAGES[way] == 3 else 2) * (ranks - 1) / ranks * 4 * params
    point = {"bytes": round(received), "off": abs(received / by_ring - 1)}
    record.measure("times_params", received / (4 * params), "", **point)
    record.measure("bytes_off", point["off"], "")


def note_files(record: Record, folder: str) -> None:
    """Record how many ranks wrote a checkpoint, and the largest share of it that one rank wrote.

    Call this after all ranks have written their files. A file's name contains the rank that wrote
    it.
    """
    dist.barrier()
    sizes: dict[str, int] = {}
    for file in Path(folder).glob("__*.distcp"):
        rank = file.name.split("_")[2]
        sizes[rank] = sizes.get(rank, 0) + file.stat().st_size
    record.measure("ranks_wrote", len(sizes), "ranks")
    record.measure(
        "largest_share", max(sizes.values(), default=0) / max(sum(sizes.values()), 1), ""
    )


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
    """Return the bytes of live tensors in the third step, and the state after its backward pass."""
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
    ids, following = (piece.to(device) for piece in pieces)
    alive = Alive(tensors_of(shared))
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    with alive:
        for number in range(3):
            shared.optimizer.zero_grad()
            alive.line.clear()
            alive.counting = number == 2  # counting takes longer than a step
            train_step(watched, ids, following, 1.0)
    gpu_peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
    return {"line": alive.line, "marks": alive.marks, "held": held, "gpu_peak": gpu_peak}


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


def share(params: int, stage: int, ranks: int, precision: str) -> dict[str, float]:
    """Return the bytes that a rank must hold at the end of the backward pass."""
    return {
        part: each * params / (ranks if stage >= shared_from else 1)
        for (part, shared_from), each in zip(SHARED_FROM.items(), EACH[precision], strict=True)
    }


def note_memory(
    record: Record, way: str, seen: Mapping[str, Any], state: Function, params: int, ranks: int
) -> None:
    """Record memory use over a step, the bytes held, and the error of the student's result."""
    held, stage = seen["held"], STAGES[way]
    parts = {f"{part}_bytes": much for part, much in held.items()}
    record.measure("state_bytes", sum(held.values()), "bytes", **parts)
    right = sum(share(params, stage, ranks, "float32").values())
    record.measure("held_over_share", sum(held.values()) / right, "")
    record.measure("peak_bytes", max(seen["line"]), "bytes")
    if seen["gpu_peak"] is not None:
        record.measure("peak_over_held", seen["gpu_peak"] / max(seen["line"]), "")
    kept = seen["line"][seen["marks"]["backward"]] - seen["line"][0]
    record.measure("activation_bytes", kept, "bytes")
    for phase, line in phases(seen["line"], seen["marks"]).items():
        record.measure("staircase", max(line), "bytes", phase=phase, line_kb=thinned(line))
    if way != "fsdp":
        record.measure("memory_error", memory_error(way, state, params), "")


def memory_error(way: str, state: Function, params: int) -> float:
    """Return the largest relative error among the parts of the student's result."""
    errors = []
    for precision in EACH:
        for ranks in (1, 2, 5):
            right = share(params, STAGES[way], ranks, precision)
            try:
                answer = state(params, way, ranks, precision)
            except Exception as raised:
                tell("the error of state_bytes", raised)
                return math.inf
            errors.append(share_off(answer, right))
    return max(errors)
