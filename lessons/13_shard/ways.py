"""A network and its optimizer on all ranks: as copies, or in parts."""

import functools
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_

import library
from ring import REDUCE_SCATTER
from zero import Zero

ON_A_NODE = ("ddp", "zero1", "zero2", "zero3", "fsdp")
WAYS = (*ON_A_NODE, "hsdp")


class Sharing(NamedTuple):
    """A network, its optimizer, and what has to be done before and after the optimizer's step."""

    model: Any
    optimizer: torch.optim.Optimizer
    before_step: Any  # called with the largest norm that the gradients may have
    after_step: Any
    whole: Any  # called on all ranks, returns all parameters in their full size


def share_out(way, network, lr, args):
    """Distribute a network's state by one of WAYS."""
    if args.recompute:
        for block in network.blocks:
            library.recompute(block)
    if way.startswith("zero"):
        zero = Zero(network, int(way[-1]), REDUCE_SCATTER[args.reduce_scatter])
        optimizer = torch.optim.AdamW(zero.parts, lr, betas=(0.9, 0.99))
        return Sharing(network, optimizer, zero.before_step, zero.after_step, zero.whole)
    model, device = network, next(network.parameters()).device
    if way == "ddp":
        gpus = [device] if device.type == "cuda" else None
        model = DistributedDataParallel(network, device_ids=gpus, gradient_as_bucket_view=True)
    else:
        ranks = (dist.get_world_size(),)
        nodes = way == "hsdp" and library.node_mesh(args.nodes, device.type)
        mesh = nodes or init_device_mesh(device.type, ranks)
        library.shard(model, mesh, args.policy)
    # Only now: fully_shard replaces the parameters.
    optimizer = torch.optim.AdamW(model.parameters(), lr, betas=(0.9, 0.99))
    clip = functools.partial(clip_grad_norm_, list(model.parameters()))
    return Sharing(model, optimizer, clip, lambda: None, lambda: library.whole(model))
