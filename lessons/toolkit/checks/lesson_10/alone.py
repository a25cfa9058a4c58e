"""What DDP sends and when: accumulation (10.4), and a step that needs nobody else (10.5).

The network is wrapped by one that looks like DDP to the student's function and notes its calls.
"""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, number, pair, shown

IMAGES, PARTS = 10, 4  # in parts of 3, 3, 3 and 1


def pretended_ddp(module: Any) -> Any:
    """A stand-in for DistributedDataParallel: who calls it, how often, and where it would send."""
    import torch

    class Pretended(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module
            self.require_backward_grad_sync = True
            self.calls: list[tuple[int, bool]] = []  # images, and whether gradients would travel
            self.sent = 0
            self.back = 0
            self.waiting = 0  # parts that went forward and not yet back, at most

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
    """Four parts give the gradients of the whole batch, which travel once."""
    import torch

    network, x, y = small_network()
    whole, loss_function = copy.deepcopy(network), torch.nn.CrossEntropyLoss()
    right = whole(x)
    right_loss = loss_function(right, y)
    right_loss.backward()
    model = pretended_ddp(network)
    answer = program.accumulate(model, loss_function, x, y, PARTS)
    if not model.calls:
        advice = "model(xs) for each part: the wrapped network has to see it, or nothing is sent."
        raise CheckFailed("model(…) is called for each part", "it is not", advice)
    if max(images for images, _ in model.calls) > 3 or len(model.calls) != PARTS:
        found = " + ".join(str(images) for images, _ in model.calls)
        advice = (
            "x.chunk(parts) and y.chunk(parts) cut at the same images; so does tensor_split(parts)."
        )
        raise CheckFailed(f"{IMAGES} images in {PARTS} parts, none of more than 3", found, advice)
    if network.weight.grad is None:
        raise CheckFailed(
            "gradients in parameter.grad", "there are none", "Call backward() for each part."
        )
    if model.waiting > 1:
        raise CheckFailed(
            "one part at a time: forward, then backward",
            f"{model.waiting} parts that went forward and not yet back",
            "A part's activations are kept until its backward(): call it before the next part, or "
            "memory is as full as with the whole batch.",
        )
    if model.sent != 1:
        advice = "Put forward and backward of all parts but the last into `with model.no_sync():`."
        if model.sent == 0:
            advice = "Keep the last part outside of no_sync, or the ranks never agree."
        raise CheckFailed("gradients travel once", f"{model.sent} times", advice)
    if not model.calls[-1][1]:
        raise CheckFailed(
            "gradients travel with the last part",
            "with an earlier one",
            "What comes after it stays on its rank: leave no_sync for the last part.",
        )
    if not torch.allclose(network.weight.grad, whole.weight.grad):
        raise CheckFailed(
            "the gradients of the whole batch",
            "others",
            mean_of_means(network, loss_function, x, y)
            + "Each part's loss is a mean over its images: weigh it by its share, "
            "len(part) / len(x).",
        )
    returned(answer, right_loss.item(), right.detach())
    fewer_than_asked(program)
    return "Ten images in four parts of unequal size: one exchange, equal to the whole batch."


def fewer_than_asked(program: Any) -> None:
    """5 images in 4 parts are 2, 2 and 1: the last part is not the one with the last number."""
    import torch

    network, x, y = small_network()
    model = pretended_ddp(network)
    program.accumulate(model, torch.nn.CrossEntropyLoss(), x[:5], y[:5], PARTS)
    if model.sent != 1:
        advice = "chunk may give fewer parts than asked for: count those that there are."
        what = "gradients of 5 images in 4 parts (2 + 2 + 1) travel once"
        raise CheckFailed(what, f"{model.sent} times", advice)


def mean_of_means(network: Any, loss_function: Any, x: Any, y: Any) -> str:
    """What was done if the parts' means were added up, or averaged, as if all were alike."""
    import torch

    found = network.weight.grad.clone()
    network.zero_grad()
    for xs, ys in zip(x.chunk(PARTS), y.chunk(PARTS), strict=True):
        loss_function(network(xs), ys).backward()
    if torch.allclose(found, network.weight.grad):
        return f"That is the sum of {PARTS} means. "
    if torch.allclose(found, network.weight.grad / PARTS):
        return f"That is the mean of {PARTS} means, and the parts are unlike: 3 + 3 + 3 + 1. "
    return ""


def returned(answer: Any, right_loss: float, right: Any) -> None:
    import torch

    if answer is None:
        raise CheckFailed("loss, outputs", "None", "`return loss, torch.cat(outputs)`")
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        pair(answer, "loss and outputs", ("loss", "outputs"))
    loss, outputs = answer
    if not isinstance(loss, torch.Tensor):
        advice = "Return it without .item() or float(): train.py calls loss.detach()."
        raise CheckFailed("the loss as a tensor", shown(loss), advice)
    found = number(loss.item(), "the loss")
    if abs(found - right_loss) > 1e-6:
        advice = "Add up each part's loss times its share of the images."
        raise CheckFailed(f"loss {right_loss:.4f}, that of the whole batch", f"{found:.4f}", advice)
    if not isinstance(outputs, torch.Tensor) or outputs.shape != right.shape:
        found_shape = tuple(getattr(outputs, "shape", ())) or shown(outputs)
        advice = "torch.cat(outputs) puts the parts' outputs one after the other."
        raise CheckFailed(f"outputs of shape {tuple(right.shape)}", str(found_shape), advice)
    if not torch.allclose(outputs, right):
        raise CheckFailed("outputs in the order of the images", "another order", "Keep the order.")


@exercise("10.5")
def check_10_5(program: Any) -> str:
    """One rank makes a step, and needs no other."""
    import torch

    network, x, y = small_network()
    x, before = x.float(), copy.deepcopy(network.float())
    expected = copy.deepcopy(network)
    model = pretended_ddp(network)
    loss_function = torch.nn.CrossEntropyLoss()
    loss_function(network(x.flip(0)), y).backward()  # gradients of another batch are still there
    forward: list[bool] = []  # of each forward pass, whether the network was in training
    network.register_forward_pre_hook(lambda module, _: forward.append(module.training))
    program.step_alone(model, torch.optim.SGD(model.parameters(), 0.1), loss_function, x, y)
    if model.calls:
        raise CheckFailed(
            "the wrapped network is not called",
            "it is" + ("" if model.calls[0][1] else ", in no_sync"),
            "no_sync keeps gradients at home, but the first forward pass of the wrapped network "
            "after an exchange still sends the buffers of BatchNorm. The network inside it sends "
            "nothing: model.module.",
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
            "one step of the optimizer, down the gradient of this batch",
            "another one",
            "Once each: zero_grad, forward of model.module, backward, step.",
        )
    if len(forward) > 1:
        advice = "BatchNorm's means move with each: keep the outputs of the first for the loss."
        raise CheckFailed("one forward pass", f"{len(forward)}", advice)
    if not all(forward) or not network.training:
        advice = "A step is training: leave out eval(), or BatchNorm and dropout do other things."
        raise CheckFailed("the network in training", "in eval()", advice)
    return "The network inside the wrapper steps; nothing travels."
