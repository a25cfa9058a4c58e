"""Test a program's use of DistributedDataParallel on the toolkit's own networks.

Every rank calls these functions and passes functions of the program under test. The package does
not import this module, because it needs PyTorch.
"""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit.probes.refusal import tell
from lessons.toolkit.record.epoch_clock import synchronise

Function = Callable[..., Any]
IMAGES, PARTS = 11, 5  # 3, 3, 3 and 2: parts of different sizes
MISTAKES = (NotImplementedError, TypeError, AttributeError, NameError, ValueError)
WORST = {"accumulation_error": math.inf, "exchanges": math.nan, "largest_part": IMAGES}


def ranks_heard(distribute: Function, device: torch.device, rank: int, size: int) -> int:
    """Return the number of ranks whose gradients change this rank's parameters in one step.

    The network has a weight for each rank, which only that rank's gradient can change.
    """
    layer = nn.Linear(size, 1, bias=False, device=device)
    try:
        network = distribute(layer, device)
        before = layer.weight.detach().clone()
        optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
        network(torch.eye(size, device=device)[[rank]]).sum().backward()
        optimizer.step()
    except Exception as raised:
        tell("the number of ranks heard", raised)
        return 0
    return int((layer.weight.detach() != before).sum())


def accumulation(
    accumulate: Function, distribute: Function, device: torch.device, gather: Function
) -> dict[str, float]:
    """Return accumulation_error, exchanges and largest_part.

    accumulation_error: the largest difference from the gradients of the whole batch of all ranks,
    relative to the largest gradient. exchanges: how often gradients were sent. largest_part: the
    largest number of images in one forward pass.
    """
    with torch.random.fork_rng(devices=[]):
        return tried(accumulate, distribute, device, gather)


def tried(
    accumulate: Function, distribute: Function, device: torch.device, gather: Function
) -> dict[str, float]:
    torch.manual_seed(1000)
    whole = nn.Linear(6, 4, dtype=torch.float64).to(device)
    layer = nn.Linear(6, 4, dtype=torch.float64).to(device)
    layer.load_state_dict(whole.state_dict())
    torch.manual_seed(2000 + dist.get_rank())
    x = torch.rand(IMAGES, 6, dtype=torch.float64).to(device)
    y = torch.randint(0, 4, (IMAGES,)).to(device)
    travelled, largest = [], [0]

    def hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        travelled.append(bucket.index())
        mean = bucket.buffer() / dist.get_world_size()
        work = dist.all_reduce(mean, async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    try:
        network = distribute(layer, device)
        network.register_comm_hook(None, hook)
        layer.register_forward_pre_hook(lambda _, given: largest.append(len(given[0])))
        network.zero_grad()
        accumulate(network, nn.CrossEntropyLoss(), x, y, PARTS)
        found = gradients(layer)
    except Exception as raised:
        tell("accumulation", raised)
        found = []
    batches = gather((x.cpu().numpy(), y.cpu().numpy()))
    everything = [
        torch.cat([torch.from_numpy(batch[part]) for batch in batches]).to(device)
        for part in (0, 1)
    ]
    nn.CrossEntropyLoss()(whole(everything[0]), everything[1]).backward()
    pairs = zip(found, gradients(whole), strict=False)
    shares = [float((one - other).abs().max() / other.abs().max()) for one, other in pairs]
    apart = max(gather(max(shares, default=math.inf)))  # on all ranks, even if one rank failed
    if math.isinf(apart):
        return WORST
    return {
        "accumulation_error": apart,
        "exchanges": len(travelled),
        "largest_part": max(largest),
    }


def gradients(network: nn.Module) -> list[torch.Tensor]:
    """Return all gradients, or raise an error if one is missing."""
    return [torch.as_tensor(parameter.grad).cpu() for parameter in network.parameters()]


def alone_error(step_alone: Function, distribute: Function, device: torch.device) -> float:
    """Return the error of rank 0's parameters after a step that only rank 0 takes.

    The network has a BatchNorm layer. The right parameters are computed by hand. The error is
    infinite if the network is no longer in training mode. The other ranks wait for rank 0. If rank
    0 waits for the other ranks, a timeout ends all ranks. NCCL only queues its messages, so rank 0
    waits for its GPU before it meets the others.
    """
    pause = dist.new_group(backend="gloo")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3000 + dist.get_rank())
        inside = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4)).to(device)
        x, y = torch.rand(IMAGES, 6, device=device), torch.randint(0, 4, (IMAGES,), device=device)
    network, loss_function = distribute(inside, device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(3):  # in its first steps, DDP sorts the gradients
        optimizer.zero_grad()
        loss_function(network(x), y).backward()
        optimizer.step()
    right = copy.deepcopy(inside)
    gradients = torch.autograd.grad(loss_function(right(x), y), list(right.parameters()))
    apart = 0.0
    if dist.get_rank() == 0:
        try:
            step_alone(network, optimizer, loss_function, x, y)
        # Not RuntimeError, which is the timeout if rank 0 waits for others.
        except MISTAKES as raised:
            tell("the error of a lone step", raised)
            apart = math.inf
        synchronise()
        if not inside.training:
            apart = math.inf
        triples = zip(inside.parameters(), right.parameters(), gradients, strict=True)
        for found, before, gradient in triples:
            apart = max(apart, (found - (before - 0.1 * gradient)).abs().max().item())
    dist.barrier(pause)
    return apart
