"""Public checks of lesson 10: PyTorch's DistributedDataParallel."""

import contextlib
import copy
import datetime
import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, shown
from lessons.toolkit.checks.shared.one_rank import one_rank

TIMEOUT = datetime.timedelta(seconds=77)
MEETING = {"MASTER_ADDR": "n1", "MASTER_PORT": "48123"}


@contextlib.contextmanager
def with_gpus(program: Any, gpus: int, local: int) -> Iterator[mock.Mock]:
    """Record the calls to torch.distributed and CUDA as on a node with this many GPUs."""
    import torch

    calls = mock.Mock()
    with (
        mock.patch.multiple(torch.cuda, is_available=lambda: gpus > 0, device_count=lambda: gpus),
        mock.patch.multiple(torch.cuda, set_device=calls.pin, current_device=lambda: local),
        mock.patch.object(torch.nn.Module, "to", lambda module, *_, **__: module),
        mock.patch.object(torch.distributed, "init_process_group", calls.init),
        mock.patch.object(torch.nn.parallel, "DistributedDataParallel", calls.wrap),
        mock.patch.object(program, "DistributedDataParallel", calls.wrap, create=True),
        mock.patch.dict(os.environ, MEETING),
    ):
        yield calls


def arguments(function: Callable[..., Any], called: mock.Mock) -> dict[str, Any]:
    """Return the arguments of the last call by name, or none if it was not called."""
    args, kwargs = called.call_args or ((), {})
    return inspect.signature(function).bind_partial(*args, **kwargs).arguments


def as_gpu(value: Any) -> Any:
    import torch

    return torch.device("cuda", value) if isinstance(value, int) else torch.device(value or "cpu")


FOUND = "It is an argument of start_ranks, by which the ranks find each other: pass it on."
FACTS = {
    "backend": "NCCL works only between GPUs; Gloo works between CPUs.",
    "rank": FOUND,
    "world_size": FOUND,
    "timeout": FOUND,
}


@exercise("10.1")
def check_10_1(program: Any) -> str:
    """The ranks connect, each rank uses one device, and each network is wrapped in DDP."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    # Rank 6 of 8 on two nodes of four GPUs: rank 6 is number 2 of the second node.
    for gpus, rank, local in ((0, 1, 1), (4, 6, 2)):
        model, right = torch.nn.Linear(2, 1), torch.device("cuda", local) if gpus else as_gpu("cpu")
        with with_gpus(program, gpus, local) as calls:
            device = program.start_ranks(rank, 8, local, TIMEOUT)
            ddp = program.distribute(model, right, 3)
            fixed = {name: os.environ.get(name) for name in MEETING} != MEETING
        asked = arguments(torch.distributed.init_process_group, calls.init)
        if not asked:
            advice = "Without this call, the ranks do not know each other."
            raise CheckFailed("dist.init_process_group(…) is called", "it is not", advice)
        if fixed or asked.get("init_method") not in (None, "env://"):
            advice = (
                "Leave init_method out, and set none of these variables. With a constant port, "
            )
            advice += "two jobs on a node collide; on each node, 127.0.0.1 is that node itself."
            found = shown(asked.get("init_method", "other ones"))
            raise CheckFailed("address and port from MASTER_ADDR and MASTER_PORT", found, advice)
        values = ("nccl" if gpus else "gloo", rank, 8, TIMEOUT)
        for (name, advice), value in zip(FACTS.items(), values, strict=True):
            if asked.get(name) != value:
                what = f"{name}={value!r} for init_process_group on a node with {gpus} GPUs"
                raise CheckFailed(what, shown(asked.get(name, "not given")), advice)
        if device != right:
            advice = "Without a GPU the device is torch.device('cpu')."
            if gpus:
                advice = "Use GPU number local_rank: rank counts the processes of all nodes."
            raise CheckFailed(f"start_ranks returns {right!r}", shown(device), advice)
        pinned = arguments(torch.cuda.set_device, calls.pin).get("device", "no call")
        if gpus and (pinned == "no call" or as_gpu(pinned) != right):
            advice = "Some calls of NCCL use the current device, GPU 0 until you choose another."
            raise CheckFailed(f"torch.cuda.set_device({right!r})", shown(pinned), advice)
        asked = arguments(DistributedDataParallel, calls.wrap)
        if asked.get("module") is not model or ddp is not calls.wrap.return_value:
            advice = "Without it every rank trains its own network. Is there a `return`?"
            raise CheckFailed("return DistributedDataParallel(model, …)", shown(ddp), advice)
        ids = [as_gpu(each) for each in asked.get("device_ids") or []]
        if ids != [right] * bool(gpus):
            advice = "It is a list of this rank's GPU alone. DDP refuses a list of CPUs."
            expected = f"device_ids of {[right] if gpus else None}"
            found = f"device_ids of {shown(asked.get('device_ids'))}"
            raise CheckFailed(expected, found, advice)
        if asked.get("bucket_cap_mb") != 3:
            found = shown(asked.get("bucket_cap_mb", "not given"))
            advice = "Pass DDP the size that distribute receives. You compare sizes later."
            raise CheckFailed("bucket_cap_mb=3 if distribute is called with 3", found, advice)
    return (
        "Gloo is used on CPUs and NCCL on GPUs, rank 6 of 8 takes GPU 2 of its node, and the "
        "network is wrapped everywhere."
    )


def images_read(program: Any, images: Any, epoch: int, size: int, rank: int) -> list[int]:
    """Return the numbers of the images that a rank trains on. An image's pixels are its number."""
    import torch

    read: list[int] = []

    def step(model: Any, optimizer: Any, loss_function: Any, x: Any, y: Any, *_: Any) -> Any:
        read.extend(int(number) for number in x.reshape(len(x), -1)[:, 0])
        return torch.zeros(()), torch.zeros(len(y), 10)

    with (
        mock.patch.multiple(torch.distributed, is_available=lambda: True),
        mock.patch.multiple(torch.distributed, get_world_size=lambda *_: size),
        mock.patch.multiple(torch.distributed, get_rank=lambda *_: rank),
        mock.patch.object(program, "train_step", step),
    ):
        loader = program.make_loader(images, 8, 6)
        if not isinstance(loader, torch.utils.data.DataLoader):
            advice = "return DataLoader(images, batch_size, sampler=…)"
            raise CheckFailed("make_loader returns a DataLoader", shown(loader), advice)
        if not hasattr(loader.sampler, "set_epoch"):
            advice = "Without a DistributedSampler, every rank reads every image."
            raise CheckFailed("sampler=DistributedSampler(…)", shown(loader.sampler), advice)
        if loader.batch_size != 8:
            advice = "Pass the DataLoader the batch size that make_loader receives."
            raise CheckFailed("batches of 8 images", shown(loader.batch_size), advice)
        program.train_epoch(None, loader, None, None, torch.device("cpu"), epoch)
    return read


@exercise("10.2")
def check_10_2(program: Any) -> str:
    """Together, the ranks read every image, in a different order in each epoch."""
    import torch
    from torch.utils.data import DistributedSampler, TensorDataset

    pixels = torch.arange(40.0)[:, None, None].repeat(1, 2, 2)
    images = TensorDataset(pixels, torch.zeros(40, dtype=torch.long))
    for size, rank in ((1, 0), (3, 0), (3, 2)):  # of three ranks, the sampler pads the shares
        own: Any = DistributedSampler(images, size, rank, seed=6)
        orders = {}
        for epoch in (0, 1, 2, 7):
            own.set_epoch(epoch)
            orders[epoch] = list(own)
        for epoch in (1, 2, 7):
            numbers, right = images_read(program, images, epoch, size, rank), orders[epoch]
            if numbers == right:
                continue
            advice = "Give the DataLoader sampler=DistributedSampler(images, seed=seed)."
            if len(numbers) != len(right):
                advice += " Without it, every rank reads every image."
            for other, order in orders.items():
                if numbers == order:
                    advice = f"That is the order of epoch {other}. In train_epoch, call "
                    advice += "loader.sampler.set_epoch(epoch) before the first batch."
            what = f"rank {rank} of {size} in epoch {epoch}: {len(right)} images, {right[:5]} …"
            raise CheckFailed(what, f"{len(numbers)} images, {numbers[:5]} …", advice)
    return "The sampler's share on each rank, in an order that is drawn for each epoch."


class Other:
    """Stands for a message that another rank answers. Its gradients are three times this rank's."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.got = tensor, False

    def wait(self) -> Any:
        self.tensor.mul_(1 if self.got else 4)
        self.got = True
        return [self.tensor]

    def get_future(self) -> Any:
        return self


@contextlib.contextmanager
def beside_another_rank(program: Any, network: Any) -> Iterator[list[tuple[int, int]]]:
    """Replace torch.distributed by one other rank. Yield its messages' sizes.

    Beside each size is the number of gradients that are not computed yet.
    """
    import torch

    sent: list[tuple[int, int]] = []

    def all_reduce(tensor: Any, *_: Any, async_op: bool = False, **__: Any) -> Any:
        missing = sum(each.grad is None for each in network.parameters())
        sent.append((tensor.numel(), missing))
        message = Other(tensor)
        if async_op:
            return message
        advice = "With async_op=True, the backward pass goes on while the bucket travels."
        raise CheckFailed("all_reduce(…, async_op=True)", "without async_op", advice)

    replaced: dict[str, Any] = {
        "all_reduce": all_reduce,
        "broadcast": lambda tensor, *_, **__: tensor.fill_(0.25),
        "get_world_size": lambda *_: 2,
        "get_rank": lambda *_: 1,
    }

    def uncounted(*_: Any, **__: Any) -> Any:
        advice = "The job's probe counts the calls that are written with `dist.`."
        raise CheckFailed("dist.all_reduce(…)", "all_reduce, imported by its name", advice)

    imported = {
        name: new
        for name, new in (replaced | {"all_reduce": uncounted}).items()
        if vars(program).get(name) is getattr(torch.distributed, name)
    }
    with (
        mock.patch.multiple(torch.distributed, **replaced),
        mock.patch.dict(vars(program), imported),
    ):
        yield sent


@exercise("10.3")
def check_10_3(program: Any) -> str:
    """Each bucket leaves as soon as it is full, and every gradient becomes the ranks' mean."""
    import torch

    network: Any = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(4)))
    twin, x = copy.deepcopy(network), torch.rand(3, 4)
    with beside_another_rank(program, network) as sent:
        program.distribute(network, torch.device("cpu"), 0.00016)  # 40 numbers: two layers
        if any((each != 0.25).any() for each in network.parameters()):
            advice = "dist.broadcast(parameter.detach(), 0) for every parameter."
            raise CheckFailed("the parameters of rank 0 on every rank", "this rank's own", advice)
        twin.load_state_dict(network.state_dict())
        for number in ("first", "second"):
            sent.clear()
            twin.zero_grad()
            network.zero_grad()
            twin(x).square().sum().backward()
            network(x).square().sum().backward()
            when = f"in the {number} backward pass"
            if [size for size, _ in sent] != [40, 40]:
                advice = "Send the joined gradients of a bucket once, when `missing` says that "
                advice += "none is missing. At the end of `receive`, set missing and sent as at "
                advice += "the start."
                raise CheckFailed(f"two messages of 40 numbers {when}", shown(sent), advice)
            if sent[0][1] != 4:
                advice = "A full bucket leaves in the same call of `computed`."
                found = f"{sent[0][1]} gradients are missing as the first bucket leaves"
                raise CheckFailed(f"4 are missing {when}", found, advice)
            ratio = (network[0].weight.grad / twin[0].weight.grad).mean().item()
            mistakes = {
                4: "That is the ranks' sum. Divide by the number of ranks.",
                1: "That is this rank's own gradient. Call `receive` after the last bucket, wait "
                "for each message, and copy the parts back.",
                0.5: "That is half of this rank's own gradient: wait for the message first.",
            }
            what = f"gradient of the first layer {when}, if the other rank's is 3 times as long"
            compare(ratio, 2.0, what, mistakes, "The mean of 1 and 3 is 2.")
            if not all(
                torch.allclose(a.grad, 2 * b.grad)
                for a, b in zip(network.parameters(), twin.parameters(), strict=True)
            ):
                advice = "split the joined numbers in the order in which torch.cat joined them."
                raise CheckFailed("the mean of every gradient", "others", advice)
    return "Two messages in each backward pass, the first while half of the gradients are missing."


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
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    done: list[Any] = []

    def forward(_: Any, inputs: Any, outputs: Any) -> None:
        done.append(len(inputs[0]))
        outputs.register_hook(lambda _: done.append("backward"))

    def exchange(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        done.append("sent")
        return allreduce_hook(group, bucket)

    with one_rank():
        model = torch.nn.parallel.DistributedDataParallel(network)
        model.register_comm_hook(None, exchange)
        network.register_forward_hook(forward)
        yield model, done


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
            advice = "Cut both with x.chunk(parts) and y.chunk(parts), and call model for each."
            raise CheckFailed(expected, shown(parts), advice)
        if any({type(a), type(b)} == {int} for a, b in itertools.pairwise(done)):
            advice = "A part's activations are kept until its backward(). Call it before the next "
            advice += "part, or you need as much memory as for the whole batch."
            raise CheckFailed("one part at a time: forward, then backward", shown(done), advice)
        if done.count("sent") != 1 or done[-1] != "sent":
            advice = "Run both passes of all parts except the last in `with model.no_sync():`, and "
            advice += "the last part outside it. chunk may return fewer parts than requested."
            raise CheckFailed("gradients are sent once, with the last part", shown(done), advice)
        if not torch.allclose(network.weight.grad, whole.weight.grad, rtol=1e-4):
            advice = "Each part's loss is a mean over its images: multiply it by its share, "
            advice += "len(part) / len(x)."
            raise CheckFailed("the gradients of the whole batch", "others", advice)
        if not isinstance(loss, torch.Tensor):
            advice = "Return the loss without .item() or float(): train.py calls loss.detach()."
            raise CheckFailed("the loss as a tensor", shown(loss), advice)
        advice = "Add up each part's loss times its share of the images."
        compare(loss.item(), loss_of(right, y).item(), "the whole batch's loss", {}, advice)
        if outputs.shape != right.shape or not torch.allclose(outputs, right):
            advice = "torch.cat(outputs) joins the parts' outputs, one after the other."
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
            "after an exchange still sends BatchNorm's buffers. Call the inner network, "
            "model.module, which sends nothing."
        )
        raise CheckFailed("the wrapped network is not called", "it is", advice)
    optimizer = torch.optim.SGD(expected.parameters(), 0.1)
    loss_of(expected(x), y).backward()
    optimizer.step()
    if not torch.allclose(network.weight, expected.weight):
        advice = "Call these once: zero_grad, the forward pass of model.module, backward, step."
        raise CheckFailed("one step with the gradient of this batch", "another one", advice)
    return "The network inside the wrapper takes a step, and nothing is sent."
