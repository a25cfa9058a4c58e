"""A network whose layers are on several ranks: what each rank holds, and a step of all."""

import itertools
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import nn

from lessons.toolkit.ranks.leaving import leave

import plan
from ranks import who_am_i

# A rank that waits longer ends with an error. Each group needs it; Gloo's default is 30 minutes.
PATIENCE = timedelta(seconds=60)


class Stage(NamedTuple):
    """This rank's layers, and the ranks with which it exchanges data."""

    layers: nn.Sequential
    width: int  # number of inputs for each image
    before: int | None = None  # ranks of the stages before and after
    after: int | None = None
    down: Any = None  # activations travel in one group of ranks, gradients in another: where they
    up: Any = None  # cross, as in 1F1B, GPUs would wait for each other in a single one
    replica: int = 0
    replicas: int = 1
    peers: Any = None  # group of all ranks with the same layers


def widths_of(args):
    """Return the number of inputs of each layer, and of the last one's outputs."""
    return [784, *[args.width] * (args.layers - 1), 10]


def build_layers(widths, numbers, seed):
    """Return these layers. Each has its own seed, so it is the same on every rank."""
    layers = []
    for number in numbers:
        torch.manual_seed(1000 * seed + number)
        linear = nn.Linear(widths[number], widths[number + 1])
        last = number == len(widths) - 2
        layers.append(nn.Sequential(linear) if last else nn.Sequential(linear, nn.ReLU()))
    return nn.Sequential(*layers)


def build_stage(widths, number, stages, links, seed, device):
    """Return this rank's stage, with the layers that plan.split gives it."""
    bounds = plan.split([before * after for before, after in itertools.pairwise(widths)], stages)
    mine = range(bounds[number], bounds[number + 1])
    return Stage(build_layers(widths, mine, seed).to(device), widths[mine.start], **links)


def forward(stage, x, sent):
    """Pass a micro-batch forward through this rank's layers. Return input and output.

    x: the images. On all stages except the first, only their number counts.
    sent: a list for the results of `dist.isend`. To wait for them here may be to wait forever.
    """
    ### BEGIN SOLUTION Exercise 11.4: forward, by the table
    if stage.before is not None:
        x = x.new_empty(len(x), stage.width)
        dist.recv(x, stage.before, group=stage.down)
        x.requires_grad_()
    outputs = stage.layers(x)
    if stage.after is not None:
        sent.append(dist.isend(outputs.detach(), stage.after, group=stage.down))
    return x, outputs
    ### END SOLUTION


def backward(stage, x, outputs, sent):
    """Pass a micro-batch back. On the last stage outputs is the loss, else as in `forward`."""
    ### BEGIN SOLUTION Exercise 11.4: backward, by the table
    gradient = None
    if stage.after is not None:
        gradient = torch.empty_like(outputs)
        dist.recv(gradient, stage.after, group=stage.up)
    outputs.backward(gradient)
    if stage.before is not None:
        sent.append(dist.isend(x.grad, stage.before, group=stage.up))
    ### END SOLUTION


def train_step(stage, optimizer, loss_function, x, y, order):
    """Make an update from one batch. The last stage returns the sums of loss and right answers."""
    optimizer.zero_grad()
    micro_batches = len(order) // 2
    xs = x[stage.replica :: stage.replicas].tensor_split(micro_batches)
    ys = y[stage.replica :: stage.replicas].tensor_split(micro_batches)
    held, sent, sums = {}, [], torch.zeros(2, device=x.device)
    for kind, k in order:
        if kind == "F":
            came_in, outputs = forward(stage, xs[k], sent)
            if stage.after is None:
                sums[1] += (outputs.argmax(1) == ys[k]).sum()
                outputs = loss_function(outputs, ys[k])  # a sum over images,
                sums[0] += outputs.detach()
                outputs = outputs / len(x)  # so that micro-batches may differ in size
            held[k] = came_in, outputs
        else:
            backward(stage, *held.pop(k), sent)
    for message in sent:
        message.wait()
    if stage.replicas > 1:  # hybrid: only ranks with the same layers have gradients to add up
        for parameter in stage.layers.parameters():
            dist.all_reduce(parameter.grad, group=stage.peers)
    optimizer.step()
    return sums


@torch.no_grad()
def evaluate(stage, loader, loss_function, device):
    """Return loss and accuracy with the current parameters; only the last stage knows them."""
    sums, sent = torch.zeros(2, device=device), []
    for x, y in loader:
        _, outputs = forward(stage, x.to(device), sent)
        if stage.after is None and stage.replica == 0:
            sums[0] += loss_function(outputs, y.to(device))
            sums[1] += (outputs.argmax(1) == y.to(device)).sum()
    for message in sent:
        message.wait()
    dist.all_reduce(sums)
    return (sums / len(loader.dataset)).tolist()


def meet():
    """Meet the other ranks. Return rank, size and device."""
    rank, size, local_rank = who_am_i()
    device = torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, rank=rank, world_size=size, timeout=PATIENCE)
    return rank, size, device


def place(rank, size, args):
    """Return this rank's stage, the number of stages, and the stage's connections."""
    stages = size // args.replicas
    wrong = None
    if size % args.replicas:
        wrong = f"{size} ranks cannot be {args.replicas} replicas: take a multiple"
    elif not 1 <= stages <= args.layers:
        wrong = f"{args.layers} layers cannot be divided among {stages} stages: ask for fewer ranks"
    elif not 1 <= args.micro_batches <= args.batch_size // args.replicas:
        wrong = f"a batch of {args.batch_size} has no {args.micro_batches} parts in a replica"
    if wrong:
        leave(rank, wrong)
    number, replica, _ = plan.grid(rank, stages, args.replicas)
    groups = [
        dist.new_group(plan.grid(one, stages, args.replicas)[2], PATIENCE) for one in range(stages)
    ]
    links = {
        "before": rank - 1 if number > 0 else None,
        "after": rank + 1 if number < stages - 1 else None,
        "down": dist.new_group(timeout=PATIENCE),
        "up": dist.new_group(timeout=PATIENCE),
        "replica": replica,
        "replicas": args.replicas,
        "peers": groups[number],
    }
    return number, stages, links
