"""Run five steps of lesson 11's pipelines, and compare all layers with one process.

    torchrun --nproc-per-node=N pipeline_steps.py out.json

By hand and by the library, with both schedules, and where N allows it as a hybrid; in float64.
"""

import itertools
import json
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "11_pipeline"))

import torch
import torch.distributed as dist
import train_library
from torch import nn

import pipeline
import plan

WIDTHS, SEED, STEPS = [784, 24, 40, 17, 32, 24, 10], 3, 5
COSTS = [a * b for a, b in itertools.pairwise(WIDTHS)]
torch.set_default_dtype(torch.float64)
rank, size, _ = pipeline.meet()


def batches(images):
    random = torch.Generator().manual_seed(7)
    for _ in range(STEPS):
        labels = torch.randint(0, 10, (images,), generator=random)
        yield torch.rand(images, 784, generator=random), labels


def optimizer_of(layers):
    return torch.optim.SGD(layers.parameters(), lr=0.1, momentum=0.9)


def serial(images):
    network = pipeline.build_layers(WIDTHS, range(len(COSTS)), SEED)
    optimizer = optimizer_of(network)
    for x, y in batches(images):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    return [parameter.detach() for parameter in network.parameters()]


def stage_of(replicas, micro_batches):
    asked = SimpleNamespace(
        replicas=replicas, layers=len(COSTS), micro_batches=micro_batches, batch_size=1000
    )
    number, stages, links = pipeline.place(rank, size, asked)
    bounds = plan.split(COSTS, stages)
    layers = pipeline.build_layers(WIDTHS, range(bounds[number], bounds[number + 1]), SEED)
    return pipeline.Stage(layers, WIDTHS[bounds[number]], **links), number, stages


def by_hand(kind, micro_batches, replicas, images):
    stage, number, stages = stage_of(replicas, micro_batches)
    optimizer = optimizer_of(stage.layers)
    order = plan.schedule(stages, micro_batches, kind)[number]
    loss = nn.CrossEntropyLoss(reduction="sum")
    for x, y in batches(images):
        pipeline.train_step(stage, optimizer, loss, x, y, order)
    return stage


def by_library(kind, micro_batches, replicas, images):
    stage, number, stages = stage_of(replicas, micro_batches)
    optimizer = optimizer_of(stage.layers)
    how = (number, stages, micro_batches, kind, nn.CrossEntropyLoss(), torch.device("cpu"))
    schedule = train_library.pipeline_of(stage, *how)
    for x, y in batches(images):
        train_library.train_step(schedule, stage, optimizer, x, y)
    return stage


def away(stage, right):
    """Return the largest difference of any replica; inf if layers are missing or held twice."""
    told = [None] * size
    own = [parameter.detach() for parameter in stage.layers.parameters()]
    dist.all_gather_object(told, (stage.replica, own))
    worst = 0.0
    for replica in range(stage.replicas):
        found = [tensor for one, tensors in told if one == replica for tensor in tensors]
        if [tensor.shape for tensor in found] != [tensor.shape for tensor in right]:
            return float("inf")
        pairs = zip(found, right, strict=True)
        worst = max(worst, *(float((one - other).abs().max()) for one, other in pairs))
    return worst


found = {}
for kind in ("gpipe", "1f1b"):
    found[f"by hand, {kind}"] = away(by_hand(kind, 5, 1, 23), serial(23))
    found[f"by hand, {kind}, few"] = away(by_hand(kind, 2, 1, 23), serial(23))
    found[f"library, {kind}"] = away(by_library(kind, 4, 1, 24), serial(24))
    if size == 4:
        found[f"hybrid, {kind}"] = away(by_hand(kind, 3, 2, 23), serial(23))
if rank == 0:
    Path(sys.argv[1]).write_text(json.dumps(found))
dist.destroy_process_group()
torch.set_default_dtype(torch.float32)  # for the next program in this process
