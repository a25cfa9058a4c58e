"""Check what DDP sends and when: accumulation (10.4), and a step on one rank (10.5).

The network is wrapped by a replacement for DDP that records the student's calls.
"""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number, pair, shown

IMAGES, PARTS = 10, 4  # parts of 3, 3, 3 and 1 images


def pretended_ddp(module: Any) -> Any:
    """Return a replacement for DistributedDataParallel.

    It records each call, and whether that call would send gradients.
    """
    import torch

    class Pretended(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module
            self.require_backward_grad_sync = True
            self.calls: list[tuple[int, bool]] = []  # images, and whether gradients would be sent
            self.sent = 0
            self.back = 0
            self.waiting = 0  # largest number of parts between forward and backward

        @contextlib.contextmanager
        def no_sync(self) -> Iterator[None]:
            before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
            yield
            self.require_backward_grad_sync = before

        def forward(self, x: Any) -> Any:
            travels = self.require_backward_grad_sync
            self.calls.append((len(x), travels))
            outputs = self.module(x)
            self.waiting = max(self.waiting, len(self.calls) - self.back)

            def backward(gradient: Any) -> None:
                self.sent += travels
                self.back += 1

            outputs.register_hook(backward)
            return outputs

    return Pretended()


def small_network() -> tuple[Any, Any, Any]:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = torch.nn.Linear(5, 3, dtype=torch.float64)
        x = torch.rand(IMAGES, 5, dtype=torch.float64)
        y = torch.randint(0, 3, (IMAGES,))
    return network, x, y


@exercise("10.4")
def check_10_4(program: Any) -> str:
    """The gradients of four parts add up to those of the whole batch, and are sent only once."""
    import torch

    network, x, y = small_network()
    whole, loss_function = copy.deepcopy(network), torch.nn.CrossEntropyLoss()
    right = whole(x)
    right_loss = loss_function(right, y)
    right_loss.backward()
    model = pretended_ddp(network)
    answer = program.accumulate(model, loss_function, x, y, PARTS)
    if not model.calls:
        advice = "Call model(xs) for each part: without the wrapped network nothing is sent."
        raise CheckFailed("model(…) is called for each part", "it is not", advice)
    if max(images for images, _ in model.calls) > 3 or len(model.calls) != PARTS:
        found = " + ".join(str(images) for images, _ in model.calls)
        advice = "Cut both with x.chunk(parts) and y.chunk(parts), or with tensor_split(parts)."
        raise CheckFailed(f"{IMAGES} images in {PARTS} parts, none of more than 3", found, advice)
    if network.weight.grad is None:
        raise CheckFailed(
            "gradients in parameter.grad", "there are none", "Call backward() for each part."
        )
    if model.waiting > 1:
        raise CheckFailed(
            "one part at a time: forward, then backward",
            f"{model.waiting} parts forward before the first backward",
            "A part's activations are kept until its backward(). Call it before the next part, or "
            "you need as much memory as for the whole batch.",
        )
    if model.sent != 1:
        advice = "Run both passes of all parts except the last in `with model.no_sync():`."
        if model.sent == 0:
            advice = "Run the last part outside no_sync, or the ranks never exchange gradients."
        raise CheckFailed("gradients are sent once", f"{model.sent} times", advice)
    if not model.calls[-1][1]:
        raise CheckFailed(
            "gradients are sent with the last part",
            "with an earlier one",
            "Gradients of later parts stay on their rank: only the last part is outside no_sync.",
        )
    if not torch.allclose(network.weight.grad, whole.weight.grad):
        raise CheckFailed(
            "the gradients of the whole batch",
            "others",
            mean_of_means(network, loss_function, x, y)
            + "Each part's loss is a mean over its images: multiply it by its share, "
            "len(part) / len(x).",
        )
    returned(answer, right_loss.item(), right.detach())
    fewer_than_asked(program)
    return (
        "Ten images in four unequal parts need one exchange and give the gradient of the whole "
        "batch."
    )


def fewer_than_asked(program: Any) -> None:
    """Check the case where `chunk` splits 5 images into 3 parts (2, 2, 1), not the 4 requested."""
    import torch

    network, x, y = small_network()
    model = pretended_ddp(network)
    program.accumulate(model, torch.nn.CrossEntropyLoss(), x[:5], y[:5], PARTS)
    if model.sent != 1:
        advice = "chunk may return fewer parts than requested: count the parts that it returned."
        what = "5 images in 3 parts (2 + 2 + 1): gradients are sent once"
        raise CheckFailed(what, f"{model.sent} times", advice)


def mean_of_means(network: Any, loss_function: Any, x: Any, y: Any) -> str:
    """Return advice if the means of the parts were added up or averaged with equal weights."""
    import torch

    found = network.weight.grad.clone()
    network.zero_grad()
    for xs, ys in zip(x.chunk(PARTS), y.chunk(PARTS), strict=True):
        loss_function(network(xs), ys).backward()
    if torch.allclose(found, network.weight.grad):
        return f"That is the sum of {PARTS} means. "
    if torch.allclose(found, network.weight.grad / PARTS):
        return f"That is the mean of {PARTS} means, but the parts differ in size: 3 + 3 + 3 + 1. "
    return ""


def returned(answer: Any, right_loss: float, right: Any) -> None:
    import torch

    if answer is None:
        raise CheckFailed("loss, outputs", "None", "`return loss, torch.cat(outputs)`")
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        pair(answer, "loss and outputs", ("loss", "outputs"))
    loss, outputs = answer
    if not isinstance(loss, torch.Tensor):
        advice = "Return the loss without .item() or float(): train.py calls loss.detach()."
        raise CheckFailed("the loss as a tensor", shown(loss), advice)
    found = number(loss.item(), "the loss")
    if abs(found - right_loss) > 1e-6:
        advice = "Add up each part's loss times its share of the images."
        raise CheckFailed(f"loss {right_loss:.4f}, that of the whole batch", f"{found:.4f}", advice)
    if not isinstance(outputs, torch.Tensor) or outputs.shape != right.shape:
        found_shape = tuple(getattr(outputs, "shape", ())) or shown(outputs)
        advice = "torch.cat(outputs) joins the parts' outputs, one after the other."
        raise CheckFailed(f"outputs of shape {tuple(right.shape)}", str(found_shape), advice)
    if not torch.allclose(outputs, right):
        raise CheckFailed("outputs in the order of the images", "another order", "Keep the order.")


@exercise("10.5")
def check_10_5(program: Any) -> str:
    """A single rank performs a step on its own, without any other rank."""
    import torch

    network, x, y = small_network()
    x, before = x.float(), copy.deepcopy(network.float())
    expected = copy.deepcopy(network)
    model = pretended_ddp(network)
    loss_function = torch.nn.CrossEntropyLoss()
    loss_function(network(x.flip(0)), y).backward()  # leaves gradients of another batch
    forward: list[bool] = []  # for each forward pass: was the network in training mode?
    network.register_forward_pre_hook(lambda module, _: forward.append(module.training))
    program.step_alone(model, torch.optim.SGD(model.parameters(), 0.1), loss_function, x, y)
    if model.calls:
        raise CheckFailed(
            "the wrapped network is not called",
            "it is" + ("" if model.calls[0][1] else ", in no_sync"),
            "With no_sync, no gradients are sent, but the wrapped network's next forward pass "
            "after an exchange still sends BatchNorm's buffers. Call the inner network, "
            "model.module, which sends nothing.",
        )
    if torch.equal(network.weight, before.weight):
        raise CheckFailed(
            "a step: the parameters move",
            "they stay",
            "zero_grad, forward, backward, step, with model.module",
        )
    optimizer = torch.optim.SGD(expected.parameters(), 0.1)
    loss_function(expected(x), y).backward()
    optimizer.step()
    if not torch.allclose(network.weight, expected.weight):
        raise CheckFailed(
            "one optimizer step with the gradient of this batch",
            "another one",
            "Call each of these once: zero_grad, the forward pass of model.module, backward, step.",
        )
    if len(forward) > 1:
        advice = (
            "Each forward pass changes BatchNorm's means: keep the outputs of the first one "
            "for the loss."
        )
        raise CheckFailed("one forward pass", f"{len(forward)}", advice)
    if not all(forward) or not network.training:
        advice = "Stay in training mode: leave out eval(), which changes BatchNorm and dropout."
        raise CheckFailed("the network in training", "in eval()", advice)
    return "The network inside the wrapper takes a step, and nothing is sent."
