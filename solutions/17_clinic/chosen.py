"""Tests of exercises 17.3, 17.4 and 17.5, of which one is to be chosen. The probe calls them."""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import batchnorm
import seeds
import tokens
from compare import count_exchanges, counted, distance, everyone, flat
from ranks import gather


def batch_norm(device):
    """17.3: outputs and gradients, with a different number of images on each rank."""
    rank = dist.get_rank()
    numbers = torch.Generator().manual_seed(rank)
    x = torch.rand(5 + 3 * rank, 4, generator=numbers, dtype=torch.float64).to(device) + rank
    weights = torch.rand(len(x), 4, generator=numbers, dtype=torch.float64).to(device)
    own = x.clone().requires_grad_()
    with counted(batchnorm.dist) as calls:
        normal = batchnorm.whole_batch_norm(own)
    (normal * weights).sum().backward()
    whole, whole_weights = everyone([x, weights])
    whole.requires_grad_()
    right = nn.functional.batch_norm(whole, None, None, training=True)
    (right * whole_weights).sum().backward()
    gradient, found = whole.grad, [normal.detach(), own.grad]
    joined = everyone(found)
    yield "norm_error", distance(flat(joined), flat([right, gradient]))
    yield "norm_collectives", len(calls) - 1


def random_streams(device):
    """17.4: no two workers of any seed, rank and epoch draw the same, and all draw it again."""
    rank = dist.get_rank()

    def drawn():
        cases = ((7, 0), (7, 1), (8, 0))  # seed and epoch
        return [seeds.places(seeds.Crops(8, seed, rank), epoch) for seed, epoch in cases]

    once, again = drawn(), drawn()
    places = [place for each in gather(once) for case in each for place in case]
    yield "places_repeated", len(places) - len(set(places))
    yield "places_changed", sum(a != b for a, b in zip(once, again, strict=True))


def weighted_tokens(device):
    """17.5: texts of different lengths in three parts on each rank, against one batch."""
    rank = dist.get_rank()
    numbers = torch.Generator().manual_seed(rank)
    parts = []
    for part in range(3):
        texts = torch.randint(0, 11, (2, 10), generator=numbers)
        texts[:, 3 + (rank + 2 * part) % 6 :] = tokens.PADDING
        parts.append(texts.to(device))
    torch.manual_seed(4)
    inside = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11)).double().to(device)
    twin = copy.deepcopy(inside)
    gpus = [device] if device.type == "cuda" else None
    model = DistributedDataParallel(inside, device_ids=gpus)
    sent = count_exchanges(model)
    tokens.accumulate(model, parts)
    losses, count = tokens.token_losses(twin, everyone([torch.cat(parts)])[0])
    (losses / count).backward()
    found, right = (flat(each.grad for each in net.parameters()) for net in (inside, twin))
    yield "tokens_error", distance(found, right)
    yield "tokens_exchanges", abs(len(sent) - 1)
