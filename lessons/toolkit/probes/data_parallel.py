"""Test a program's use of DistributedDataParallel on copies of its network.

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
WORST = {"accumulation_error": math.inf, "exchanges": math.nan}


def accumulation(
    accumulate: Function,
    distribute: Function,
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    gather: Function,
) -> dict[str, float]:
    """Return accumulation_error and exchanges, for a batch that cannot be cut into equal parts.

    accumulation_error: the largest difference from the gradients of the whole batch of all ranks,
    relative to the largest gradient of the array. exchanges: how often gradients were sent.
    """
    whole, inside = copy.deepcopy(network), copy.deepcopy(network)
    device = next(network.parameters()).device
    first = dist.get_rank() * IMAGES
    xb, yb = (each[first : first + IMAGES].to(device) for each in (x, y))
    exchanges = 0

    def hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        nonlocal exchanges
        exchanges += bucket.is_last()
        mean = bucket.buffer() / dist.get_world_size()
        work = dist.all_reduce(mean, async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    try:
        model = distribute(inside, device)
        model.register_comm_hook(None, hook)
        model.zero_grad()
        accumulate(model, nn.CrossEntropyLoss(), xb, yb, PARTS)
        found = gradients(inside)
    except Exception as raised:
        tell("accumulation", raised)
        found = []
    everything = slice(0, dist.get_world_size() * IMAGES)
    nn.CrossEntropyLoss()(whole(x[everything].to(device)), y[everything].to(device)).backward()
    pairs = zip(found, gradients(whole), strict=False)
    shares = [float((one - other).abs().max() / other.abs().max()) for one, other in pairs]
    apart = max(gather(max(shares, default=math.inf)))  # on all ranks, even if one rank failed
    if math.isinf(apart):
        return WORST
    return {"accumulation_error": apart, "exchanges": exchanges}


def gradients(network: nn.Module) -> list[torch.Tensor]:
    """Return all gradients, or raise an error if one is missing."""
    return [torch.as_tensor(parameter.grad).cpu() for parameter in network.parameters()]


def alone_error(
    step_alone: Function,
    distribute: Function,
    network: nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
) -> float:
    """Return the error of rank 1's parameters after a step that only rank 1 takes, on all ranks.

    A BatchNorm layer follows the program's network. The right parameters are computed by hand. The
    error is infinite if the network is no longer in training mode. The other ranks wait for rank 1.
    If rank 1 waits for a message of DDP, a timeout ends all ranks. (DDP sends buffers from rank 0,
    and with NCCL a sender does not wait.) NCCL only queues its messages, so rank 1 waits for its
    GPU before it meets the others.
    """
    lone = min(1, dist.get_world_size() - 1)
    pause = dist.new_group(backend="gloo")
    device = next(network.parameters()).device
    x, y = x[:IMAGES].to(device), y[:IMAGES].to(device)
    classes = network(x).shape[1]
    inside = nn.Sequential(copy.deepcopy(network), nn.BatchNorm1d(classes)).to(device)
    model, loss_function = distribute(inside, device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(inside.parameters(), lr=0.1)
    for _ in range(3):  # in its first steps, DDP sorts the gradients
        optimizer.zero_grad()
        loss_function(model(x), y).backward()
        optimizer.step()
    right = copy.deepcopy(inside)
    gradients = torch.autograd.grad(loss_function(right(x), y), list(right.parameters()))
    apart = 0.0
    if dist.get_rank() == lone:
        try:
            step_alone(model, optimizer, loss_function, x, y)
        # Not RuntimeError, which is the timeout if the rank waits for others.
        except MISTAKES as raised:
            tell("the error of a lone step", raised)
            apart = math.inf
        synchronise()
        if not inside.training:
            apart = math.inf
        triples = zip(inside.parameters(), right.parameters(), gradients, strict=True)
        for found, before, gradient in triples:
            apart = max(apart, (found - (before - 0.1 * gradient)).abs().max().item())
    result = torch.tensor(apart, dtype=torch.float64)
    dist.broadcast(result, lone, group=pause)
    return result.item()
