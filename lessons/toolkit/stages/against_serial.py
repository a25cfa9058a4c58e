"""Compare a step of many ranks with the same step of one process, and check the ranks' layers."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.toolkit.stages.gathering import gathered

WIDTHS = (12, 16, 9, 16, 8, 16, 9, 16, 5)  # layers of a small network with eight layers
STEPS, IMAGES, RATE = 3, 23, 0.5  # 23 is prime: micro-batches differ in size
MOST = 1e3  # stands for a larger error, and for one that is not a number
LEAST = 1e-4  # relative to the largest change of a parameter


def measure_holdings(record: Any, dist: Any, stage: Any, mine: Sequence[int]) -> None:
    """Record which parameters each rank holds; call this on every rank.

    stage: the program's object, with fields layers, width, before, after, replica, replicas. mine:
    the numbers of the layers that this rank holds.
    """
    hashes = [hash_of(parameter) for parameter in stage.layers.parameters()]
    count = sum(parameter.numel() for parameter in stage.layers.parameters())
    told = gathered(dist, (stage.replica, list(mine), count, hashes))
    first = [rank for rank in told if rank[0] == 0]
    for number, (_, layers, held, _) in enumerate(first):
        record.measure("params_held", held, "parameters", stage=number, layers=layers)
    record.measure("params_together", sum(rank[2] for rank in first), "parameters")
    every = [one for rank in first for one in rank[3]]
    record.measure("params_twice", len(every) - len(set(every)), "arrays")


def measure_serial(
    record: Any, dist: Any, stage: Any, train_step: Callable[..., Any], order: Any,
    images: int = IMAGES, **point: Any,
) -> None:  # fmt: skip
    """Record the parameters' error compared with a single process. Call this on every rank.

    images: the images of a batch.
    """
    error = serial_error(dist, stage, train_step, order, images)
    record.measure("serial_error", error, "", micro_batches=len(order) // 2, **point)


def hash_of(parameter: Any) -> str:
    return hashlib.blake2b(parameter.detach().cpu().numpy().tobytes()).hexdigest()[:16]


def small_layers(numbers: Sequence[int]) -> Any:
    """Return the layers with these numbers, out of eight, with reproducible parameters."""
    import torch

    layers = []
    with torch.random.fork_rng(devices=[]):  # the program's random numbers do not change
        for number in numbers:
            torch.manual_seed(number)
            linear = torch.nn.Linear(WIDTHS[number], WIDTHS[number + 1], dtype=torch.float64)
            last = number == len(WIDTHS) - 2
            parts = [linear] if last else [linear, torch.nn.ReLU()]
            layers.append(torch.nn.Sequential(*parts))
    return torch.nn.Sequential(*layers)


def small_batch(step: int, images: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(step)
    return rng.normal(size=(images, WIDTHS[0])), rng.integers(0, WIDTHS[-1], images)


def serial_error(
    dist: Any, stage: Any, train_step: Callable[..., Any], order: Any, images: int = IMAGES
) -> float:
    """Return the error of the parameters after three steps in float64.

    The parameters are compared with those of a single process. The error is relative to the largest
    change of any parameter in the same array.
    """
    import torch

    device = next(stage.layers.parameters()).device
    stages = dist.get_world_size() // stage.replicas
    number = dist.get_rank() % stages
    mine = [int(k) for k in np.array_split(np.arange(len(WIDTHS) - 1), stages)[number]]
    layers = small_layers(mine).to(device)
    own = stage._replace(layers=layers, width=WIDTHS[mine[0]])
    optimizer = torch.optim.SGD(layers.parameters(), lr=RATE)
    loss = torch.nn.CrossEntropyLoss(reduction="sum")
    for step in range(STEPS):
        x, y = small_batch(step, images)
        batch = torch.tensor(x, device=device), torch.tensor(y, device=device)
        train_step(own, optimizer, loss, *batch, order)
    arrays = [parameter.detach().cpu().numpy() for parameter in layers.parameters()]
    told = gathered(dist, (stage.replica, arrays))
    worst = 0.0
    for replica in range(stage.replicas):
        found = [a for rank in told if rank[0] == replica for a in rank[1]]
        worst = max(worst, away(found, *serial_steps(images)))
    return worst if worst < MOST else MOST


def serial_steps(images: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the initial parameters, and those after the same steps in a single process.

    The steps use whole batches.
    """
    import torch

    network = small_layers(range(len(WIDTHS) - 1))
    start = [parameter.detach().numpy().copy() for parameter in network.parameters()]
    for step in range(STEPS):
        x, y = small_batch(step, images)
        scores = network(torch.tensor(x))
        gradients = torch.autograd.grad(
            torch.nn.functional.cross_entropy(scores, torch.tensor(y)), list(network.parameters())
        )
        with torch.no_grad():
            for parameter, gradient in zip(network.parameters(), gradients, strict=True):
                parameter -= RATE * gradient
    return start, [parameter.detach().numpy() for parameter in network.parameters()]


def away(
    found: list[np.ndarray], start: Sequence[np.ndarray], right: Sequence[np.ndarray]
) -> float:
    if [a.shape for a in found] != [a.shape for a in right]:
        return MOST
    ways = [float(np.abs(r - s).max()) for r, s in zip(right, start, strict=True)]
    least = LEAST * max(ways)  # in an array that hardly changes, rounding is not an error
    # Each array has its own scale: the first layers of a deep network have small gradients.
    # Python's max would skip nan.
    errors = [
        float(np.abs(f - r).max()) / max(way, least)
        for f, r, way in zip(found, right, ways, strict=True)
    ]
    worst = float(np.max(errors))
    return min(worst, MOST) if np.isfinite(worst) else MOST
