"""Checks of the start of a DDP program (10.1), and of the images that a rank reads (10.2)."""

import contextlib
import datetime
import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

TIMEOUT = datetime.timedelta(seconds=77)
MEETING = {"MASTER_ADDR": "n1", "MASTER_PORT": "48123"}
BY_NAME = "An argument is in the place of another one (help shows the order). Give all arguments "
BY_NAME += "after the first by their names."


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
    try:
        return inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError as error:  # as Python itself would say
        raise CheckFailed(f"arguments of {function.__name__}", f"{error}", BY_NAME) from None


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
            advice = "Without this call, the ranks do not know each other. Every rank makes it: is "
            advice += "it in an `if` that is true on rank 0 only?"
            raise CheckFailed("dist.init_process_group(…) is called", "it is not", advice)
        if fixed or asked.get("init_method") not in (None, "env://"):
            advice = "Leave init_method out, and set none of these variables. With a constant port,"
            advice += " two jobs on a node collide; on each node, 127.0.0.1 is that node itself."
            if not isinstance(asked.get("init_method", ""), str):
                advice = BY_NAME
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
                advice = "`rank` counts over all nodes. This node has only its own GPUs."
            raise CheckFailed(f"start_ranks returns {right!r}", shown(device), advice)
        pinned = arguments(torch.cuda.set_device, calls.pin).get("device", "no call")
        if gpus and (pinned == "no call" or as_gpu(pinned) != right):
            advice = "Some calls of NCCL use the current device, GPU 0 until you choose another."
            raise CheckFailed(f"the current device is {right!r}", shown(pinned), advice)
        asked = arguments(DistributedDataParallel, calls.wrap)
        if asked.get("module") is not model or ddp is not calls.wrap.return_value:
            advice = "Without it every rank trains its own network. Is there a `return`?"
            raise CheckFailed("distribute returns the wrapped network", shown(ddp), advice)
        ids = asked.get("device_ids") or []
        if not isinstance(ids, list | tuple) or [as_gpu(i) for i in ids] != [right] * bool(gpus):
            advice = "With GPUs it is a list of one, this rank's own. DDP refuses a list of CPUs."
            expected = f"device_ids that suit device={right!r}"
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
            advice = "Is there a `return`?"
            raise CheckFailed("make_loader returns a DataLoader", shown(loader), advice)
        if not hasattr(loader.sampler, "set_epoch"):
            advice = "With this one, every rank reads every image. If you gave another one, did "
            advice += "you name the argument? The third place of DataLoader is `shuffle`."
            expected = "a loader whose sampler shares the images out"
            raise CheckFailed(expected, shown(loader.sampler), advice)
        dealt = getattr(loader.sampler, "num_replicas", size), getattr(loader.sampler, "rank", rank)
        if dealt != (size, rank):
            advice = "help(DistributedSampler) shows what the argument in each place means. Left "
            advice += "out, number and rank are those of the process group."
            found = f"rank {dealt[1]} of {dealt[0]}"
            raise CheckFailed(f"a sampler for rank {rank} of {size}", found, advice)
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
            advice = "Which sampler gives each rank other images, in an order drawn from which "
            advice += "seed?"
            for other, order in orders.items():
                if numbers == order:
                    advice = f"That is the order of epoch {other}. Who tells the sampler which "
                    advice += "epoch begins, and does that happen before the first batch?"
            what = f"rank {rank} of {size} in epoch {epoch}: {len(right)} images, {right[:5]} …"
            raise CheckFailed(what, f"{len(numbers)} images, {numbers[:5]} …", advice)
    return "The sampler's share on each rank, in an order that is drawn for each epoch."
