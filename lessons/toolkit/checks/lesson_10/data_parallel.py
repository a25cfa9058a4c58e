"""Check DDP's steps (10.1, 10.2) without starting ranks.

The student's functions are called with a replacement for torch.distributed that claims to be one
rank of several and records its calls. To see the effect on real ranks, look at the jobs' records.
"""

import datetime
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]
TIMEOUT = datetime.timedelta(seconds=77)
NAMES = ("backend", "init_method", "timeout", "world_size", "rank")
# Arguments of DDP after module.
POSITIONS = ("device_ids", "output_device", "dim", "broadcast_buffers", "init_sync")


@contextmanager
def pretended(program: Any, gpus: int) -> Iterator[dict[str, Calls]]:
    """Record calls to torch.distributed and CUDA on a simulated node with this many GPUs."""
    import torch

    calls: dict[str, Calls] = {"init": [], "pin": [], "wrap": []}

    def note(name: str) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            calls[name].append((given, named))
            return mock.sentinel.wrapped if name == "wrap" else None

        return called

    with ExitStack() as stack:
        put = stack.enter_context
        put(mock.patch.object(torch.cuda, "is_available", return_value=gpus > 0))
        put(mock.patch.object(torch.cuda, "device_count", return_value=gpus))
        put(mock.patch.object(torch.cuda, "set_device", note("pin")))
        put(mock.patch.object(torch.cuda, "current_device", partial(current_gpu, calls["pin"])))
        put(mock.patch.object(torch.nn.Module, "to", where_it_is))
        put(mock.patch.object(torch.distributed, "init_process_group", note("init")))
        put(mock.patch.object(torch.nn.parallel, "DistributedDataParallel", note("wrap")))
        put(mock.patch.object(program, "DistributedDataParallel", note("wrap"), create=True))
        yield calls


def where_it_is(module: Any, *_: Any, **__: Any) -> Any:
    """Return the network itself instead of a copy on a GPU that does not exist."""
    return module


def current_gpu(pin: Calls) -> int:
    """Return the number of the GPU that was set last, as CUDA reports it; 0 if none was."""
    return as_gpu(chosen(pin)[-1]).index or 0 if pin else 0


def chosen(pin: Calls) -> list[Any]:
    """Return the argument of each `torch.cuda.set_device` call, passed by position or by name."""
    return [(*given, *named.values())[0] for given, named in pin]


@exercise("10.1")
def check_10_1(program: Any) -> str:
    """The ranks connect, each rank uses one device, and each network is wrapped in DDP."""
    # Rank 6 of 8 on two nodes of four GPUs: rank 6 is number 2 of the second node.
    for gpus, rank, local in ((0, 1, 1), (4, 6, 2), (4, 4, 0)):
        with pretended(program, gpus) as calls:
            device = program.start_ranks(rank, 8, local, TIMEOUT)
        started(calls["init"], rank, gpus)
        pinned(calls["pin"], device, local, gpus)
    with pretended(program, 0) as calls:
        program.start_ranks(0, 1, 0, TIMEOUT)
    if not calls["init"]:
        advice = "Even one rank needs a group: the program later asks dist for its rank and size."
        raise CheckFailed("init_process_group is called for a single rank", "it is not", advice)
    for gpus in (0, 4):
        wrapped(program, gpus)
    return (
        "Gloo is used on CPUs and NCCL on GPUs, rank 6 of 8 takes GPU 2 of its node, and the "
        "network is wrapped everywhere."
    )


def started(init: Calls, rank: int, gpus: int) -> None:
    if not init:
        raise CheckFailed(
            "dist.init_process_group(…) is called",
            "it is not",
            "Without this call, the ranks do not know each other. help(dist.init_process_group) "
            "lists its arguments.",
        )
    given, named = init[-1]
    asked = dict(zip(NAMES, given, strict=False)) | named
    right = "nccl" if gpus else "gloo"
    if asked.get("backend") != right:
        where = "GPUs" if gpus else "no GPU"
        raise CheckFailed(
            f"back end {right!r} on a node with {where}",
            shown(asked.get("backend")),
            "NCCL works only between GPUs; Gloo works between CPUs.",
        )
    for name, wanted in (("rank", rank), ("world_size", 8), ("timeout", TIMEOUT)):
        if asked.get(name) != wanted:
            raise CheckFailed(
                f"{name}={wanted} for init_process_group",
                shown(asked.get(name, "not given")),
                "start_ranks gets three facts that let ranks find each other: its rank, the "
                "number of ranks in the whole job, and how long to wait for the others. "
                + (f"{name} was different." if name in asked else f"{name} was not passed on."),
            )


def pinned(pin: Calls, device: Any, local: int, gpus: int) -> None:
    import torch

    if device is None:
        raise CheckFailed("start_ranks returns a device", "None", "Return torch.device(…).")
    if not isinstance(device, torch.device):
        advice = "Return torch.device(…), not its name or number: only a device has a `type`."
        raise CheckFailed("start_ranks returns a device", shown(device), advice)
    wanted = torch.device("cuda", local) if gpus else torch.device("cpu")
    if device != wanted:
        advice = "Without a GPU the device is torch.device('cpu')."
        if gpus:
            advice = "Use GPU number local_rank: rank counts the processes of all nodes."
        raise CheckFailed(f"the device {wanted}", str(device), advice)
    if gpus:
        last = chosen(pin)[-1:]
        if not last or torch.device("cuda", local) != as_gpu(last[0]):
            raise CheckFailed(
                f"torch.cuda.set_device of GPU {local}",
                shown(last[0]) if last else "it is not called",
                "Some calls of NCCL use the current device. That is GPU 0 on every rank until you "
                "choose another one.",
            )


def as_gpu(value: Any) -> Any:
    import torch

    return torch.device("cuda", value) if isinstance(value, int) else torch.device(value)


def wrapped(program: Any, gpus: int) -> None:
    import torch

    model, device = torch.nn.Linear(2, 1), torch.device("cuda", 2) if gpus else torch.device("cpu")
    with pretended(program, gpus) as calls:
        found = program.distribute(model, device, 3)
    if not calls["wrap"]:
        raise CheckFailed(
            "DistributedDataParallel(model, …)",
            "it is not called",
            "Without it every rank trains its own network.",
        )
    if found is not mock.sentinel.wrapped:
        raise CheckFailed(
            "the wrapped network is returned", shown(found), "Is there a `return` in front of it?"
        )
    given, named = calls["wrap"][-1]
    if (*given, named.get("module"))[0] is not model:
        raise CheckFailed("DistributedDataParallel(model, …)", shown(given), "Wrap this network.")
    asked = named | dict(zip(POSITIONS, given[1:], strict=False))
    ids = asked.get("device_ids")
    if gpus and [as_gpu(one) for one in ids or []] != [device]:
        advice = "One network uses one GPU: the list contains only this rank's device."
        raise CheckFailed(f"device_ids names {device}", shown(ids), advice)
    if not gpus and ids is not None:
        raise CheckFailed(
            "no device_ids on a CPU",
            shown(ids),
            "DDP refuses a list of CPUs: device_ids is for GPUs.",
        )
    if not asked.get("init_sync", True):
        raise CheckFailed(
            "networks that are equal at the start",
            "init_sync=False",
            "Leave init_sync out. With init_sync=False, DDP does not send rank 0's parameters, "
            "and averaging gradients never makes different networks equal.",
        )
    if asked.get("bucket_cap_mb") != 3:
        raise CheckFailed(
            "buckets of at most 3 MB if distribute is called with 3",
            shown(asked.get("bucket_cap_mb", "not given")),
            "Pass DDP the size that distribute receives. You compare sizes later.",
        )


@exercise("10.2")
def check_10_2(program: Any) -> str:
    """Together, the ranks read every image, in a different order in each epoch."""
    import torch
    from torch.utils.data import DistributedSampler

    images, size = 104, 4
    every: Any = range(images)
    samplers: list[Any] = [DistributedSampler(every, size, rank, seed=5) for rank in range(size)]
    orders = []
    for epoch in (1, 2, 3):
        shares = [program.order_of(sampler, epoch) for sampler in samplers]
        for share in shares:
            if not isinstance(share, torch.Tensor):
                advice = "torch.tensor(list(sampler)) turns the sampler's numbers into a tensor."
                if share is None:
                    advice = "Is there a `return` in front of it?"
                raise CheckFailed("a tensor of numbers", shown(share), advice)
            if share.dtype not in (torch.int64, torch.int32):
                advice = (
                    "The numbers come from the sampler and are whole: torch.tensor(list(sampler))."
                )
                raise CheckFailed("a tensor of whole numbers", str(share.dtype), advice)
        orders.append(torch.stack(shares).tolist() if alike(shares) else [])
        read = torch.cat(shares).tolist()
        if sorted(read) != list(range(images)):
            missing, twice = len(set(range(images)) - set(read)), len(read) - len(set(read))
            raise CheckFailed(
                f"{size} ranks read {images} images once each, {images // size} per rank",
                f"{len(read)} reads; {missing} images never, {twice} once more than needed",
                "Iterate over the sampler itself. It yields this rank's share of an order that "
                "is the same on all ranks.",
            )
    if orders[0] == orders[1]:
        raise CheckFailed(
            "a different order in epoch 2 than in epoch 1",
            "the same order",
            "Call sampler.set_epoch(epoch) first: the sampler's order depends on its seed and "
            "the epoch.",
        )
    first = program.order_of(samplers[0], 1).tolist()
    if first != orders[0][0]:
        raise CheckFailed(
            "order_of(sampler, 1) gives the same each time",
            "another order the second time",
            "The order may depend only on seed and epoch: call sampler.set_epoch(epoch) first, "
            "and draw no other random numbers.",
        )
    for ranks in (1, 3):
        as_the_sampler_gives(program, ranks)
    return "26 images on each of 4 ranks, none twice, in an order that is drawn for each epoch."


def as_the_sampler_gives(program: Any, ranks: int) -> None:
    """Check that the order is exactly the sampler's, neither sorted nor shifted.

    Also check the order for a single rank, and for shares that the sampler pads.
    """
    from torch.utils.data import DistributedSampler

    every: Any = range(40)
    for rank in range(ranks):
        given: Any = DistributedSampler(every, ranks, rank, seed=6)
        own: Any = DistributedSampler(every, ranks, rank, seed=6)
        drawn = {}  # the sampler's order in each epoch
        for epoch in (0, 1, 2, 3, 7):
            own.set_epoch(epoch)
            drawn[epoch] = list(own)
        once = drawn[0]
        for epoch in (1, 2, 7):
            found = [int(number) for number in program.order_of(given, epoch)]
            right = drawn[epoch]
            if found == right:
                continue
            advice = (
                "Nothing more is needed: call sampler.set_epoch(epoch), then return "
                "list(sampler) unchanged."
            )
            where = next((n for n, pair in enumerate(zip(found, right, strict=False))
                          if pair[0] != pair[1]), 0)  # fmt: skip
            wanted, said = (f"{shown(one[where : where + 5])[:-1]}, …]" for one in (right, found))
            if len(found) != len(right):
                wanted, said = f"{len(right)} numbers", f"{len(found)}"
                twice = "The sampler repeats some images, so that all shares have equal size."
                advice = f"{twice} {advice}"
            elif found == sorted(right):
                advice = f"A sorted epoch is no longer in random order. {advice}"
            elif found == once[-epoch:] + once[:-epoch]:
                advice = f"That is a single order, shifted by the number of the epoch. {advice}"
            elif found in drawn.values():
                other = next(number for number, order in drawn.items() if order == found)
                advice = f"That is the order of epoch {other}: pass the number of this epoch. "
                advice += "Call set_epoch(epoch) before you read the sampler."
            raise CheckFailed(
                f"rank {rank} of {ranks}, epoch {epoch}: {wanted}"
                + f" from place {where}" * (where > 0),
                said,
                advice,
            )


def alike(shares: list[Any]) -> bool:
    return len({len(share) for share in shares}) == 1
