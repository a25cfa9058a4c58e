"""Check forward and backward passes over stages (11.4), on real ranks."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, exercise
from lessons.toolkit.checks.shared.real_ranks import in_new_python, on_ranks, patience

WIDTHS = (6, 7, 5, 8, 4)
CUTS = (0, 1, 2, 4)  # layers of three stages
PARTS = (3, 4, 2)  # images of the micro-batches
# 1F1B's orders of work
ORDERS = ("F0 F1 F2 B0 B1 B2", "F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2")
HANGS = (
    "Forward, receive from stage.before and send to stage.after; backward, the other way round. "
    "dist.send waits until the other side receives, and in 1F1B both sides send. dist.isend goes "
    "on at once, but a message whose request nobody keeps may never arrive."
)
ENDS = "The first stage has no stage before it, and the last one none after it."
NO_GRADIENT = (
    "Only x and the parameters keep their gradients; the outputs do not. For a received x, PyTorch "
    "has to know before the layers run that you want one; otherwise x.grad is None."
)
GROUPS = (
    "In 1F1B, activations and gradients are in transit at the same time. If both used one group, "
    "GPUs would wait for each other (Gloo on CPUs does not)."
)


@exercise("11.4")
@in_new_python
def check_11_4(pipeline: ModuleType) -> str:
    """With 3 stages, all layers' gradients equal those of one process to within 1e-9."""
    import torch

    rng = torch.Generator().manual_seed(1)
    x, pull = (
        torch.randn(sum(PARTS), width, generator=rng, dtype=torch.float64)
        for width in (WIDTHS[0], WIDTHS[-1])
    )
    whole = layers_of(range(len(WIDTHS) - 1))
    # With a gradient, because PyTorch then loads SymPy: once here, instead of on each rank in turn.
    whole(x).backward(pull)

    def on_rank(rank: int) -> Any:
        return train(pipeline, rank, x.split(PARTS), pull.split(PARTS))

    found = [each for rank in on_ranks(3, on_rank, check_11_4, HANGS) for each in rank]
    for number, parameter in enumerate(whole.parameters()):
        gradient, right = found[number], parameter.grad
        if gradient is None or not torch.allclose(gradient, right, rtol=0, atol=1e-9):
            advice = "Does the backward pass begin with what the next stage sends back? A received "
            advice += "tensor needs the shape and the type of the one that is sent."
            what = f"the gradient of layer {number // 2} is {first(right)}"
            raise CheckFailed(what, "none" if gradient is None else first(gradient), advice)
    return "Activations go forward, gradients come back, and all layers learn as in one process."


def train(pipeline: ModuleType, rank: int, xs: Sequence[Any], pulls: Sequence[Any]) -> Any:
    """Return the gradients of this rank's layers after one batch in 1F1B order."""
    import torch.distributed as dist

    layers = layers_of(range(CUTS[rank], CUTS[rank + 1]))
    before, after = rank - 1 if rank else None, rank + 1 if rank < 2 else None
    down, up = (dist.new_group(timeout=patience()) for _ in range(2))
    stage = pipeline.Stage(layers, WIDTHS[CUTS[rank]], before, after, down, up)
    isend = dist.isend

    def checked(tensor: Any, dst: Any = None, group: Any = None, **more: Any) -> Any:
        if dst is None:
            raise CheckFailed("isend sends to a rank", "to None", ENDS)
        if tensor is None:
            raise CheckFailed("isend sends a tensor", "it sends None", NO_GRADIENT)
        if group is not (down if dst == after else up):
            wanted = "isend with group=stage.down for activations, group=stage.up for gradients"
            raise CheckFailed(wanted, f"another group from rank {rank} to {dst}", GROUPS)
        return isend(tensor, dst, group, **more)

    mock.patch.object(dist, "isend", checked).start()  # in this process, which is a fork
    held, sent = {}, list[Any]()
    for work in ORDERS[rank].split():
        k = int(work[1])
        if work[0] == "F":
            came_in, outputs = pipeline.forward(stage, xs[k] if rank == 0 else 0 * xs[k], sent)
            held[k] = came_in, (outputs * pulls[k]).sum() if after is None else outputs
        else:
            pipeline.backward(stage, *held.pop(k), sent)
    for message in sent:
        message.wait()
    return [parameter.grad for parameter in layers.parameters()]


def layers_of(numbers: Sequence[int]) -> Any:
    import torch

    layers = []
    for number in numbers:
        torch.manual_seed(number)
        linear = torch.nn.Linear(WIDTHS[number], WIDTHS[number + 1], dtype=torch.float64)
        layers.append(torch.nn.Sequential(linear, torch.nn.Tanh()))
    return torch.nn.Sequential(*layers)


def first(tensor: Any) -> str:
    return f"{[round(value, 4) for value in tensor.detach().flatten()[:3].tolist()]} …"
