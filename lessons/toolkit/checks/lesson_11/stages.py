"""Check forward and backward passes over stages (11.4), with threads as ranks."""

import itertools
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise
from lessons.toolkit.ranks.schedules import one_forward_one_backward
from lessons.toolkit.ranks.simulated_ranks import Hang, Transfer, run_on_ranks

WIDTHS = (6, 7, 5, 8, 4)
PARTS = (3, 4, 2, 3)  # images of the micro-batches


class PretendedDist:
    """A replacement for torch.distributed for ranks that are threads.

    Sends and receives wait for each other.
    """

    def __init__(self) -> None:
        self.own = threading.local()
        self.waiting_sends = False

    def __getattr__(self, name: str) -> Any:
        advice = "The check knows only these three; the lesson's text explains them."
        raise CheckFailed("dist.isend, dist.send and dist.recv", f"dist.{name}", advice)

    def isend(self, tensor: Any, dst: Any = None, group: Any = None, tag: int = 0) -> Any:
        if tensor is None:
            advice = (
                "Call x.requires_grad_() after x is received and before the layers run; "
                "otherwise x.grad is None. Only x and the parameters keep their gradients; the "
                "outputs do not."
            )
            raise CheckFailed("isend sends a tensor", "None", advice)
        if dst is None:
            advice = (
                "The first stage has no stage before it and the last one none after it: ask "
                "`if stage.before is not None`, and likewise for stage.after."
            )
            raise CheckFailed("isend sends to a rank", "to None", advice)
        self.right_group("isend", group, down=dst > self.own.comm.rank)
        array = tensor.detach().contiguous().numpy()
        return Sent(self.own.comm.Isend(array, dst), array)

    def send(self, tensor: Any, dst: Any = None, group: Any = None, tag: int = 0) -> None:
        self.waiting_sends = True
        self.isend(tensor, dst, group).wait()

    def recv(self, tensor: Any, src: Any = None, group: Any = None, tag: int = 0) -> None:
        import numpy as np

        if src is None:
            advice = (
                "The first stage has no stage before it and the last one none after it: ask "
                "`if stage.before is not None`, and likewise for stage.after."
            )
            raise CheckFailed("recv gets a rank", "it gets None", advice)
        self.right_group("recv", group, down=src < self.own.comm.rank)
        if str(tensor.dtype) != "torch.float64":
            advice = "x.new_empty(…) and torch.empty_like(…) use the type of x or of the argument."
            raise CheckFailed("recv gets a tensor of float64", f"one of {tensor.dtype}", advice)
        room = np.full(tensor.shape, np.nan)
        self.own.comm.Recv(room, src)
        if np.isnan(room).any():
            advice = (
                "The received tensor has the shape that was sent: (len(x), stage.width) forward, "
                "and the shape of `outputs` backward."
            )
            raise CheckFailed(
                "recv gets a tensor of the right shape", f"one of shape {room.shape}", advice
            )
        tensor.detach().numpy()[...] = room

    def right_group(self, name: str, group: Any, down: bool) -> None:
        wanted = "down" if down else "up"
        if group != wanted:
            found = f"group=stage.{group}" if group in ("down", "up") else f"group={group}"
            what = "activations" if down else "gradients"
            advice = (
                "In 1F1B, activations and gradients are in transit at the same time. If "
                "both used one group, GPUs would wait for each other (Gloo on CPUs does not)."
            )
            raise CheckFailed(f"{name} of {what} with group=stage.{wanted}", found, advice)


class Sent:
    def __init__(self, transfer: Transfer, array: Any) -> None:
        self.transfer, self.array = transfer, array

    def wait(self) -> None:
        self.transfer.Wait()


def layers_of(numbers: Sequence[int]) -> Any:
    import torch

    layers = []
    with torch.random.fork_rng(devices=[]):
        for number in numbers:
            torch.manual_seed(number)
            linear = torch.nn.Linear(WIDTHS[number], WIDTHS[number + 1], dtype=torch.float64)
            last = number == len(WIDTHS) - 2
            parts = [linear] if last else [linear, torch.nn.Tanh()]
            layers.append(torch.nn.Sequential(*parts))
    return torch.nn.Sequential(*layers)


@exercise("11.4")
def check_11_4(pipeline: ModuleType) -> str:
    """With 2 and 3 stages, all layers' gradients equal those of one process to within 1e-9."""
    pretended = PretendedDist()
    real, pipeline.dist = pipeline.dist, pretended  # type: ignore[attr-defined]
    try:
        for stages in (2, 3):
            for kind in ("gpipe", "1f1b"):
                pretended.waiting_sends = False
                try_stages(pipeline, pretended, stages, kind)
    finally:
        pipeline.dist = real  # type: ignore[attr-defined]
    return "Activations go forward, gradients come back, and all layers learn as in one process."


def try_stages(pipeline: ModuleType, pretended: PretendedDist, stages: int, kind: str) -> None:
    import torch

    images, m = sum(PARTS), len(PARTS)
    rng = torch.Generator().manual_seed(stages)
    x = torch.randn(images, WIDTHS[0], generator=rng, dtype=torch.float64)
    pull = torch.randn(images, WIDTHS[-1], generator=rng, dtype=torch.float64)
    whole = layers_of(range(len(WIDTHS) - 1))
    (whole(x) * pull).sum().backward()
    right = [parameter.grad for parameter in whole.parameters()]
    cuts = [0, 2, 4] if stages == 2 else [0, 1, 2, 4]
    orders = one_forward_one_backward(stages, m)
    if kind == "gpipe":
        orders = [[(p, k) for p in "FB" for k in range(m)] for _ in range(stages)]

    parts = [layers_of(range(a, b)) for a, b in itertools.pairwise(cuts)]

    def on_rank(comm: Any, number: int) -> Any:
        pretended.own.comm = comm
        layers = parts[number]
        before = number - 1 if number else None
        after = number + 1 if number + 1 < stages else None
        stage = pipeline.Stage(layers, WIDTHS[cuts[number]], before, after, "down", "up")
        xs, pulls = x.split(PARTS), pull.split(PARTS)
        kept, sent = {}, list[Any]()
        for passed, k in orders[number]:
            if passed == "F":
                mine = xs[k].clone() if before is None else torch.zeros_like(xs[k])
                came_in, outputs = two_of(pipeline.forward(stage, mine, sent))
                if after is None:
                    if outputs.shape != pulls[k].shape:
                        raise wrong_outputs(outputs, pulls[k])
                    outputs = (outputs * pulls[k]).sum()
                kept[k] = came_in, outputs
            else:
                pipeline.backward(stage, *kept.pop(k), sent)
        expected = m * ((after is not None) + (before is not None))
        if len(sent) != expected and not pretended.waiting_sends:
            advice = "sent.append(dist.isend(…)): a message that nobody waits for may never arrive."
            wanted = f"rank {number} of {stages}: {expected} messages in `sent`"
            raise CheckFailed(wanted, f"{len(sent)}", advice)
        for message in sent:
            message.wait()
        return [parameter.grad for parameter in layers.parameters()]

    try:
        outcome = run_on_ranks(on_rank, list(range(stages)))
    except Hang as hang:
        advice = (
            "One stage waits for something that the other does not send. Forward, receive "
            "from stage.before and send to stage.after; backward, the other way round."
        )
        if pretended.waiting_sends:
            advice = "dist.send waits until the other side receives, and here both sides send: "
            advice += "sent.append(dist.isend(…)) goes on at once."
        wanted = f"{stages} stages with {m} micro-batches ({kind}) come to an end"
        raise CheckFailed(wanted, f"all wait for each other: {hang}", advice) from None
    gradients = [gradient for rank in outcome.results for gradient in rank]
    for number, (found, wanted) in enumerate(zip(gradients, right, strict=True)):
        compare_gradient(number // 2, found, wanted, f"{stages} stages ({kind})")


def two_of(value: Any) -> tuple[Any, Any]:
    try:
        came_in, outputs = value
    except (TypeError, ValueError):
        advice = "return x, outputs: `backward` needs both."
        wanted = "forward returns its input and its output"
        raise CheckFailed(wanted, f"one {type(value).__name__}", advice) from None
    return came_in, outputs


def wrong_outputs(outputs: Any, pull: Any) -> CheckFailed:
    wanted = f"the last stage's outputs are {tuple(pull.shape)}"
    return CheckFailed(wanted, f"{tuple(outputs.shape)}", "outputs = stage.layers(x)")


def compare_gradient(layer: int, found: Any, right: Any, where: str) -> None:
    what = f"{where}: the gradient of layer {layer}"
    if found is None:
        advice = "No gradient reaches this layer: call outputs.backward(gradient) on every stage."
        raise CheckFailed(f"{what} begins {first(right)}", "none", advice)
    if bool(((found - right).abs() < 1e-9).all()):
        return
    advice = "What does the next stage send back, and is it passed to outputs.backward(…)?"
    if bool((found == 0).all()):
        advice = (
            "The gradient is 0: the next stage sent nothing back, or it did not compute "
            "with the x that it received."
        )
    raise CheckFailed(f"{what} begins {first(right)}", first(found), advice)


def first(tensor: Any) -> str:
    return f"{[round(value, 4) for value in tensor.detach().flatten()[:3].tolist()]} …"
