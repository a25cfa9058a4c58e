"""Check ZeRO by hand (13.1 to 13.4) and the mesh of nodes (13.5), on real ranks."""

import itertools
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, compare, exercise
from lessons.toolkit.checks.shared.real_ranks import on_ranks
from lessons.toolkit.ranks.wire import received_during

HANGS = "Every rank must call the same collectives, and each message needs a receiver."
UNFINISHED = (
    "If every rank first sends with a call that waits, nobody receives: begin both messages of a "
    "round together. Is each message waited for? Does each rank receive as often as it sends?"
)


def numbers(tensor: Any) -> str:
    return str([round(value, 3) for value in tensor.detach().flatten().tolist()])


def same(found: Any, right: Any) -> bool:
    return found.shape == right.shape and bool(((found - right).abs() < 1e-9).all())


@exercise("13.1")
def check_13_1(zero: ModuleType) -> str:
    """`gather` gives each rank all parts, and `collect` gives it its part of the mean gradient."""
    on_ranks(2, partial(try_unit, zero, 2), check_13_1, HANGS)
    return (
        "Gathering joins the parts into whole parameters. Collecting gives each rank its part of "
        "the mean gradients."
    )


def gathered(tensor: Any, size: int) -> list[Any]:
    import torch.distributed as dist

    parts = [tensor.new_empty(tensor.shape) for _ in range(size)]
    dist.all_gather(parts, tensor.detach())
    return parts


def try_unit(zero: ModuleType, size: int, rank: int) -> None:
    import torch

    def part(flat: Any) -> Any:
        return flat.chunk(size)[rank]

    values = torch.arange(1.0, 8.0, dtype=torch.float64)
    params = [torch.nn.Parameter(each.clone()) for each in (values[:4].view(2, 2), values[4:])]
    unit = zero.Unit(params, 3, lambda flat: part(sum(gathered(flat, size))).clone())
    unit.part.data += 10 * (rank + 1)  # an update of this rank's part
    expected = torch.cat(gathered(unit.part, size))
    unit.free()
    unit.gather()
    if not same(unit.whole, expected):
        advice = "Which tensor has this rank's numbers after an update, and which one is filled?"
        wanted = f"after gather, whole on rank {rank} of {size} is {numbers(expected)}"
        raise CheckFailed(wanted, numbers(unit.whole), advice)
    gradient = torch.arange(7.0, dtype=torch.float64) * (rank + 1)
    params[0].grad, params[1].grad = gradient[:4].view(2, 2).clone(), gradient[4:].clone()
    unit.collect()
    own = torch.cat([gradient, gradient.new_zeros(len(unit.whole) - 7)])
    right, found = part(own / (rank + 1)) * (size + 1) / 2, unit.part.grad
    if found is None or not same(found, right):
        advice = "The gradients' numbers need the order of `whole`, and its length."
        if found is not None and same(found, right * size):
            advice = "That is the sum over all ranks. What does DDP take?"
        elif found is not None and same(found, part(own) / size):
            advice = "That is only this rank's gradient."
        wanted = f"after collect, part.grad on rank {rank} of {size} is {numbers(right)}"
        raise CheckFailed(wanted, "no gradient" if found is None else numbers(found), advice)
    if any(param.grad is not None for param in params):
        wanted = "after collect, param.grad is None for all params"
        advice = "As long as a parameter refers to its gradient, it stays in memory."
        raise CheckFailed(wanted, "whole gradients are still there", advice)


def try_ring(ring_reduce_scatter: Function, inputs: list[Any], rank: int) -> tuple[Any, int | None]:
    """Return the part, and the bytes that this rank has received meanwhile, if they are counted."""
    return received_during(lambda: ring_reduce_scatter(inputs[rank].clone()))


@exercise("13.2")
def check_13_2(ring: ModuleType) -> str:
    """Each of 4 ranks receives 3 messages of a quarter of the array, and its part of the sum."""
    import torch

    size, length = 4, 20_000
    numbers_of = torch.arange(size * length, dtype=torch.float64)
    inputs = [numbers_of + 100.0**rank for rank in range(size)]
    work = partial(try_ring, ring.ring_reduce_scatter, inputs)
    found = on_ranks(size, work, check_13_2, UNFINISHED)
    sums = torch.stack(inputs).sum(0).chunk(size)
    for rank, (part, received) in enumerate(found):
        if not same(part, sums[rank]):
            advice = "What does a rank send from the second round on, its own numbers or the sum "
            advice += "so far?"
            if any(same(part, other) for other in sums):
                advice = "That is the sum of another rank's part: which one has to be sent first?"
            elif same(part, inputs[rank].chunk(size)[rank]):
                advice = "That is only this rank's own part: nothing was added to it. Which part "
                advice += "is received last?"
            what = f"ring_reduce_scatter on rank {rank} of {size} begins {numbers(sums[rank][:3])}"
            raise CheckFailed(what, numbers(part.flatten()[:3]), advice)
        if received is not None and received > 1.2 * 8 * length * (size - 1):
            what = f"rank {rank} of {size} receives {size - 1} messages of {length} numbers"
            instead = f"{received:,} bytes instead of {8 * length * (size - 1):,}"
            advice = "In each round, send one part to the right and receive one from the left."
            raise CheckFailed(what, instead, advice)
    if any(received is None for _, received in found):
        return "The sums are right. This system does not count the bytes that a rank receives."
    return "Each rank sends (p - 1) / p of all numbers, once."


STEPS = {
    1: ["forward", "backward"],
    2: ["forward", "backward", "collect"],
    3: ["gather", "forward", "free", "gather", "backward", "collect", "free"],
}


def noted_step(watch: Function, stage: int) -> list[str]:
    """Return what happens to a unit during one step of its module, in order."""
    import torch

    events: list[str] = []
    calls: list[Any] = []

    def note(name: str, *given: Any) -> None:
        if given:
            advice = "PyTorch calls a hook with arguments. What you register has to take them."
            found = f"called with {len(given)} arguments"
            raise CheckFailed(f"unit.{name}() is called without arguments", found, advice)
        events.append(name)

    noted = {name: partial(note, name) for name in ("gather", "free", "collect")}
    unit = SimpleNamespace(when_complete=lambda *given: calls.extend(given), **noted)

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            events.append("forward")
            x = 2 * x
            x.register_hook(lambda _: events.append("backward"))
            return x

    module = Module()
    watch(module, unit, stage)
    if events:
        advice = "With brackets behind its name a function runs at once. A hook is a function that "
        advice += "PyTorch calls later."
        found = f"watch itself has called unit.{events[0]}()"
        raise CheckFailed("watch only registers what is to be called", found, advice)
    module(torch.ones(3, requires_grad=True)).sum().backward()
    for call in filter(None, calls):
        call()
    return events


@exercise("13.3")
def check_13_3(watch: Function) -> str:
    """In stage 3, a unit is gathered only while its module computes, forward or backward."""
    for stage, right in STEPS.items():
        found = noted_step(watch, stage)
        if found != right:
            pairs = itertools.zip_longest(found, right, fillvalue="nothing more")
            place, (one, other) = next((i, p) for i, p in enumerate(pairs) if p[0] != p[1])
            after = f"after {found[place - 1]}" if place else "at first"
            what = f"in a step of stage {stage}, {after}: {other}"
            advice = "Compare with this stage's row in the table. Which hook runs at this time?"
            raise CheckFailed(what, one, advice)
    return (
        "Stage 1 collects before the update, stage 2 as soon as a unit has its gradients, and "
        "stage 3 also gathers and frees each unit twice."
    )


def try_clip(zero: ModuleType, norms: list[float], rank: int) -> float:
    import torch

    parts = [torch.zeros(3, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)]
    parts[0][1], parts[1][0] = 0.6 * norms[rank], 0.8 * norms[rank]
    zero.clip(parts, 1.0)
    return float(torch.cat(parts).norm())


@exercise("13.4")
def check_13_4(zero: ModuleType) -> str:
    """Parts with norms 3 and 4 have a total norm of 5; clipping it to 1 multiplies both by 0.2."""
    for norms, factor in (([3.0, 4.0], 0.2), ([0.03, 0.04], 1.0)):
        found = on_ranks(len(norms), partial(try_clip, zero, norms), check_13_4, HANGS)
        for rank, norm in enumerate(norms):
            mistakes = {
                0.03 / 0.05: "A norm below `most` is not scaled.",
                3.0: "Nothing was scaled: the caller goes on with the tensors that it gave.",
                1.0: "That is the norm of only this rank's parts.",
                3 / 7: "Norms do not add up. What does?",
                3 / 25: "The root is missing.",
            }
            what = f"parts of norms {norms}, clipped to 1: norm on rank {rank}"
            advice = "Compute the norm of all gradients by hand, from both ranks' numbers."
            compare(found[rank], norm * factor, what, mistakes, advice)
    return "All ranks use one factor, from the norm of all their parts."


@exercise("13.5")
def check_13_5(library: ModuleType) -> str:
    """Parts are shared out over the ranks of one node, for any number of nodes."""
    for nodes in (2, 1, 4):
        found = on_ranks(4, partial(rows_of, library.node_mesh, nodes), check_13_5, HANGS)[0]
        each = 4 // nodes
        right = [list(range(first, first + each)) for first in range(0, 4, each)]
        if found != right:
            what = f"4 ranks on {nodes} nodes share parts in the groups {right}"
            advice = "Which ranks are on the same node, and along which dimension of its mesh does "
            advice += "fully_shard cut? Its documentation names the dimensions of HSDP."
            raise CheckFailed(what, f"{found}", advice)
    return "A unit is gathered within a node. Only its gradients travel to other nodes."


def rows_of(node_mesh: Function, nodes: int, rank: int) -> list[list[int]]:
    """Return the ranks that share parts, group by group."""
    mesh = node_mesh(nodes, "cpu")
    if not mesh.mesh_dim_names:
        advice = "Pass mesh_dim_names, one name for each dimension: fully_shard refuses others."
        raise CheckFailed("a mesh whose dimensions have names", "they have none", advice)
    rows: list[list[int]] = mesh.mesh.tolist()
    return rows
