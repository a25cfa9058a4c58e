"""Checks of steps that send less: a batch in parts (10.4), and a rank alone (10.5)."""

import contextlib
import copy
import itertools
from collections.abc import Iterator
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, shown
from lessons.toolkit.checks.shared.one_rank import one_rank


def small_network() -> tuple[Any, Any, Any]:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return torch.nn.Linear(5, 3), torch.rand(10, 5), torch.randint(0, 3, (10,))


@contextlib.contextmanager
def watched_ddp(network: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Wrap the network on one rank. Also provide a list of what it does.

    The list gets the number of images for a forward pass, or "backward", or "sent".
    """
    import torch
    import torch.distributed as dist

    done: list[Any] = []

    def forward(_: Any, inputs: Any, outputs: Any) -> None:
        done.append(len(inputs[0]))
        outputs.register_hook(lambda _: done.append("backward"))

    def exchange(_: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Send nothing: a message's Python callback can block the group's end."""
        done.append("sent")
        arrived = torch.futures.Future[torch.Tensor]()
        arrived.set_result(bucket.buffer())
        return arrived

    with one_rank():
        model = torch.nn.parallel.DistributedDataParallel(network)
        model.register_comm_hook(None, exchange)
        network.register_forward_hook(forward)
        yield model, done


def last_part_alone(network: Any, loss_of: Any, xs: Any, ys: Any, x: Any) -> list[Any]:
    """Return the weight's gradient from the last part alone, with its share and without."""
    alone = copy.deepcopy(network)
    alone.zero_grad()
    loss_of(alone(xs), ys).backward()
    return [alone.weight.grad * len(xs) / len(x), alone.weight.grad]


@exercise("10.4")
def check_10_4(program: Any) -> str:
    """The gradients of four parts add up to those of the whole batch, and are sent only once."""
    import torch

    loss_of = torch.nn.CrossEntropyLoss()
    for images in (10, 5):  # in parts of 3 + 3 + 3 + 1, or 2 + 2 + 1: chunk makes only three
        network, x, y = small_network()
        x, y, whole = x[:images], y[:images], copy.deepcopy(network)
        right = whole(x)
        loss_of(right, y).backward()
        with watched_ddp(network) as (model, done):
            loss, outputs = program.accumulate(model, loss_of, x, y, 4)
        parts = [each for each in done if isinstance(each, int)]
        if len(parts) != len(x.chunk(4)) or max(parts) > len(x.chunk(4)[0]):
            expected = f"model(…) is called for parts of {[len(xs) for xs in x.chunk(4)]} images"
            advice = "Cut images and labels alike, and call model once for each part."
            raise CheckFailed(expected, shown(parts), advice)
        if any({type(a), type(b)} == {int} for a, b in itertools.pairwise(done)):
            advice = "A part's activations are kept until its backward pass. Now all parts' "
            advice += "activations are in memory at once."
            raise CheckFailed("one part at a time: forward, then backward", shown(done), advice)
        if done.count("sent") != 1 or done[-1] != "sent":
            advice = "Which passes of which parts must not send? Count the parts that you got."
            raise CheckFailed("gradients are sent once, with the last part", shown(done), advice)
        if not torch.allclose(network.weight.grad, whole.weight.grad, rtol=1e-4):
            advice = "Each part's loss is a mean over its own images. How much does a part of one "
            advice += "image count in the whole batch?"
            if any(
                torch.allclose(network.weight.grad, left, rtol=1e-4)
                for left in last_part_alone(network, loss_of, x.chunk(4)[-1], y.chunk(4)[-1], x)
            ):
                advice = "Only the last part's gradient is left: who set the others to zero?"
            raise CheckFailed("the gradients of the whole batch", "others", advice)
        if not isinstance(loss, torch.Tensor):
            advice = "train.py calls loss.detach(), which a plain number does not have."
            raise CheckFailed("the loss as a tensor", shown(loss), advice)
        advice = "The parts' losses count in the sum as much as in the gradient."
        compare(loss.item(), loss_of(right, y).item(), "the whole batch's loss", {}, advice)
        if outputs.shape != right.shape or not torch.allclose(outputs, right):
            advice = "Join all parts' outputs, one after the other, in the images' order."
            raise CheckFailed("the outputs of all images, in order", "others", advice)
    return "Ten images in four unequal parts need one exchange and give the whole batch's gradient."


@exercise("10.5")
def check_10_5(program: Any) -> str:
    """A single rank performs a step on its own, without any other rank."""
    import torch

    network, x, y = small_network()
    expected, loss_of = copy.deepcopy(network), torch.nn.CrossEntropyLoss()
    loss_of(network(x.flip(0)), y).backward()  # leaves gradients of another batch
    wrapped: list[int] = []
    with watched_ddp(network) as (model, _):
        model.register_forward_pre_hook(lambda *_: wrapped.append(1))
        program.step_alone(model, torch.optim.SGD(model.parameters(), 0.1), loss_of, x, y)
    if wrapped:
        advice = (
            "With no_sync, no gradients are sent, but the wrapped network's next forward pass "
            "after an exchange still sends BatchNorm's buffers. Where does the wrapper keep the "
            "network that it wraps?"
        )
        raise CheckFailed("the wrapped network is not called", "it is", advice)
    optimizer = torch.optim.SGD(expected.parameters(), 0.1)
    loss_of(expected(x), y).backward()
    optimizer.step()
    if not torch.allclose(network.weight, expected.weight):
        advice = "A whole step has four parts, each of them once. Compare with train_step."
        raise CheckFailed("one step with the gradient of this batch", "another one", advice)
    return "The network inside the wrapper takes a step, and nothing is sent."
