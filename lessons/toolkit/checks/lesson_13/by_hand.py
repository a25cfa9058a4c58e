"""Check ZeRO by hand, on real ranks (13.2 to 13.6)."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks
from lessons.toolkit.ranks.wire import bytes_received

Function = Callable[..., Any]
HANGS = "Every rank must call the same collectives, and each message needs a receiver."


def numbers(tensor: Any) -> str:
    return str([round(value, 3) for value in tensor.detach().flatten().tolist()])


def same(found: Any, right: Any) -> bool:
    return found.shape == right.shape and bool(((found - right).abs() < 1e-9).all())


def a_tensor(value: Any, what: str) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        raise CheckFailed(f"{what} is a tensor", shown(value), "Is there a `return`?")
    return value


@exercise("13.2")
def check_13_2(part_of: Function) -> str:
    """Ten numbers are split among 4 ranks as 3 + 3 + 3 + 3; the last two are padding zeros."""
    import torch

    flat = torch.arange(1.0, 11.0, dtype=torch.float64)
    for size in (4, 2, 1):
        length = -(-10 // size)
        filled = torch.cat([flat, flat.new_zeros(size * length - 10)])
        for rank in range(size):
            what = f"part_of(1 … 10, {rank}, {size})"
            found = a_tensor(part_of(flat.clone(), rank, size), what)
            right = filled[rank * length : (rank + 1) * length]
            if not same(found, right):
                raise CheckFailed(
                    f"{what} = {numbers(right)}", numbers(found), wrong_part(found, flat, length)
                )
            if found.untyped_storage().nbytes() > found.numel() * found.element_size():
                raise CheckFailed(
                    f"{what} keeps {found.numel()} numbers in memory",
                    f"it keeps {found.untyped_storage().nbytes() // found.element_size()}",
                    "A slice is a view, which keeps the whole tensor alive: add .clone().",
                )
    return "All parts have the same length, and each has its own memory."


def wrong_part(found: Any, flat: Any, length: int) -> str:
    if same(found, flat):
        return "That is everything, so nothing is sharded. Take this rank's part."
    if len(found) != length:
        return (
            "Collectives need parts of the same length: 10 / size, rounded up. Append zeros "
            "before you cut."
        )
    return "Rank 0 has the first part, and the zeros come after the last number."


@exercise("13.3")
def check_13_3(zero: ModuleType) -> str:
    """`gather` gives each rank all parts, and `collect` gives it its part of the mean gradient."""
    on_ranks(2, partial(try_unit, zero, 2), check_13_3, HANGS)
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

    def reduce_scatter(flat: Any) -> Any:
        if flat.dim() != 1 or len(flat) != len(unit.whole):
            raise CheckFailed(
                f"reduce_scatter gets {len(unit.whole)} numbers in a row, as long as whole",
                f"a tensor of shape {list(flat.shape)}",
                "Flatten each param.grad, torch.cat them, and put zeros at the end.",
            )
        return sum(gathered(flat, size)).chunk(size)[rank].clone()  # type: ignore[attr-defined]

    values = torch.arange(1.0, 8.0, dtype=torch.float64)
    params = [torch.nn.Parameter(values[:4].view(2, 2).clone())]
    params.append(torch.nn.Parameter(values[4:].clone()))
    unit = zero.Unit(params, 3, reduce_scatter)
    unit.part.data += 10 * (rank + 1)  # an update of this rank's part
    expected = torch.cat(gathered(unit.part, size))
    unit.free()
    unit.gather()
    if not same(unit.whole, expected):
        advice = "Call dist.all_gather_into_tensor(self.whole, …) with this rank's part."
        wanted = f"after gather, whole on rank {rank} of {size} is {numbers(expected)}"
        raise CheckFailed(wanted, numbers(unit.whole), advice)
    gradient = torch.arange(7.0, dtype=torch.float64) * (rank + 1)
    params[0].grad, params[1].grad = gradient[:4].view(2, 2).clone(), gradient[4:].clone()
    unit.collect()
    mean = torch.arange(7.0, dtype=torch.float64) * (size + 1) / 2
    mean = torch.cat([mean, mean.new_zeros(len(unit.whole) - 7)])
    right, found = mean.chunk(size)[rank], unit.part.grad
    wanted = f"after collect, part.grad on rank {rank} of {size} is {numbers(right)}"
    if found is None:
        raise CheckFailed(wanted, "None", "Write the result into self.part.grad.")
    if not same(found, right):
        own = torch.cat([gradient, mean.new_zeros(len(unit.whole) - 7)]).chunk(size)[rank]
        advice = "Are the gradients in the same order as the parameters in `whole`?"
        if same(found, right * size):
            advice = "That is the sum over all ranks. DDP takes the mean: divide by self.size."
        elif same(found, own) or same(found, own / size):
            advice = "That is only this rank's gradient: call self.reduce_scatter."
        raise CheckFailed(wanted, numbers(found), advice)
    if any(param.grad is not None for param in params):
        raise CheckFailed(
            "after collect, param.grad is None for all params",
            "whole gradients are still there",
            "Otherwise they stay in memory: set param.grad = None.",
        )


def try_ring(ring_reduce_scatter: Function, inputs: list[Any], rank: int) -> tuple[Any, int | None]:
    """Return the part, and the bytes that this rank has received meanwhile, if they are counted."""
    before = bytes_received()
    part, after = ring_reduce_scatter(inputs[rank].clone()), bytes_received()
    return part, None if before is None or after is None else after - before


@exercise("13.4")
def check_13_4(ring: ModuleType) -> str:
    """Each of 4 ranks receives 3 messages of a quarter of the array, and its part of the sum."""
    import torch

    size, length = 4, 20_000
    numbers_of = torch.arange(size * length, dtype=torch.float64)
    inputs = [numbers_of + 100.0**rank for rank in range(size)]
    found = on_ranks(size, partial(try_ring, ring.ring_reduce_scatter, inputs), check_13_4, HANGS)
    total = torch.stack(inputs).sum(0)
    for rank, (part, received) in enumerate(found):
        what = f"ring_reduce_scatter on rank {rank} of {size}"
        right = total.chunk(size)[rank]
        if not same(a_tensor(part, what), right):
            advice = "From the second round on, send the sum so far, not only your own numbers."
            if any(same(part, other) for other in total.chunk(size)):
                advice = "That is the sum of another rank's part: start with part rank - 1."
            elif same(part, inputs[rank].chunk(size)[rank]):
                advice = "That is only this rank's own part: nothing was added."
            wanted = f"{what} begins {numbers(right[:3])}"
            raise CheckFailed(wanted, numbers(part.flatten()[:3]), advice)
        if received is not None and received > 1.2 * 8 * length * (size - 1):
            raise CheckFailed(
                f"rank {rank} of {size} receives {size - 1} messages of {length} numbers",
                f"{received:,} bytes instead of {8 * length * (size - 1):,}",
                "In each round, send one part to the right and receive one from the left.",
            )
    if any(received is None for _, received in found):
        return "The sums are right. This system does not count the bytes that a rank receives."
    return "Each rank sends (p - 1) / p of all numbers, once."


class NotedUnit:
    """A unit that only records which of its methods are called."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.calls: list[Callable[[], Any]] = []

    def gather(self) -> None:
        self.events.append("gather")

    def free(self) -> None:
        self.events.append("free")

    def collect(self) -> None:
        self.events.append("collect")

    def when_complete(self, *calls: Callable[[], Any]) -> None:
        self.calls += calls


STEPS = {
    1: ["forward", "backward"],
    2: ["forward", "backward", "collect"],
    3: ["gather", "forward", "free", "gather", "backward", "collect", "free"],
}


def noted_step(watch: Function, stage: int) -> list[str]:
    """Return what happens to a unit during one step of its module, in order."""
    import torch

    unit = NotedUnit()

    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            unit.events.append("forward")
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            unit.events.append("backward")
            return gradient * 2

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Noted.apply(x)

    module = Module()
    watch(module, unit, stage)
    out = module(torch.ones(3, requires_grad=True)).sum()
    if "backward" in unit.events or "collect" in unit.events:
        return unit.events
    out.backward()
    for call in unit.calls:
        call()
    return unit.events


@exercise("13.5")
def check_13_5(watch: Function) -> str:
    """In stage 3, a unit is gathered only while its module computes, forward or backward."""
    for stage, right in STEPS.items():
        found = noted_step(watch, stage)
        if found != right:
            raise CheckFailed(
                f"in a step of stage {stage}: {', '.join(right)}",
                ", ".join(found),
                wrong_step(found, stage),
            )
    return (
        "Stage 1 collects before the update, stage 2 as soon as a unit has its gradients, and "
        "stage 3 also gathers and frees each unit twice."
    )


def wrong_step(found: list[str], stage: int) -> str:
    if stage < 3 and ("gather" in found or "free" in found):
        return "Parameters are sharded only in stage 3: compare `stage` first."
    if stage == 1:
        return "In stage 1, do nothing here: Zero.before_step collects the gradients."
    if "collect" not in found or "backward" not in found:
        return "Call unit.when_complete(unit.collect), with no brackets after collect."
    if stage == 2:
        return "Collect once, when all gradients of the unit are ready."
    if "gather" not in found[: found.index("forward")]:
        return (
            "Gather in register_forward_pre_hook, which runs before the forward pass; "
            "register_forward_hook runs after it."
        )
    after = found[found.index("forward") + 1 : found.index("backward")]
    if "free" not in after:
        return (
            "After a unit's forward pass, other units need the memory: free the unit in a "
            "forward hook."
        )
    if "gather" not in after:
        return "The backward pass needs the parameters again: use register_full_backward_pre_hook."
    if found[-2:] != ["collect", "free"]:
        return (
            "At the end, collect first, then free: when_complete runs its calls in the given order."
        )
    return "A step has two gathers, two frees and one collect."


def try_clip(zero: ModuleType, norms: list[float], rank: int) -> Any:
    import torch

    parts = [torch.zeros(3, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)]
    parts[0][1], parts[1][0] = 0.6 * norms[rank], 0.8 * norms[rank]
    zero.clip(parts, 1.0)
    return torch.cat(parts)


@exercise("13.6")
def check_13_6(zero: ModuleType) -> str:
    """Parts with norms 3 and 4 have a total norm of 5; clipping it to 1 multiplies both by 0.2."""
    for norms in ([3.0, 4.0], [0.03, 0.04]):
        whole = sum(norm**2 for norm in norms) ** 0.5
        factor = min(1.0, 1.0 / (whole + 1e-6))

        found = on_ranks(len(norms), partial(try_clip, zero, norms), check_13_6, HANGS)
        for rank, norm in enumerate(norms):
            length = float(found[rank].norm())
            if abs(length - norm * factor) > 1e-8:
                raise CheckFailed(
                    f"parts of norms {norms}, clipped to 1: rank {rank} keeps {norm * factor:.9g}",
                    f"{length:.9g}",
                    wrong_norm(length, norm, norms, factor),
                )
    return "All ranks use one factor, from the norm of all their parts."


def wrong_norm(length: float, norm: float, norms: list[float], factor: float) -> str:
    def close(other: float) -> bool:
        return abs(length - other) < 1e-4

    if factor == 1.0:
        return "A norm below `most` is not scaled: the factor is at most 1 (clamp)."
    if close(norm):
        return "Nothing was scaled. Scale in place: gradient.mul_(factor)."
    if close(min(norm, 1.0)):
        return "That is the norm of only this rank's parts: add up the squares of all ranks."
    if close(norm / sum(norms)):
        return "Norms do not add up, but their squares do. Take the root after the all_reduce."
    if close(norm / sum(each**2 for each in norms)):
        return "The root is missing: the norm is the square root of the sum of squares."
    if close(norm / (sum(each**2 for each in norms) / len(norms)) ** 0.5):
        return "Each rank has different numbers, so take the sum of their squares, not the mean."
    return "Multiply by most / (norm + 1e-6); norm is the root of the sum of all squares."
