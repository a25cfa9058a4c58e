"""Compare a student's loss scaler with PyTorch's, and padded texts with unpadded ones.

The package does not import this file, because it needs PyTorch.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

from lessons.toolkit.probes.refusal import tell

Function = Callable[..., Any]
# The gradients of eleven steps, as a factor. Those that are not finite have to be skipped.
STEPS = (1.0, 2.0, math.inf, 1.0, 0.5, -1.0, math.nan, 3.0, 1.0, 1.0, 1.0)
SCALE, PATIENCE = 8.0, 3


def scaler_error(scaler_class: Function) -> float:
    """Return the largest difference from PyTorch's GradScaler, in parameters and in the scale."""
    try:
        found = states(scaler_class(SCALE, PATIENCE), True)
    except Exception as raised:
        tell("the difference from PyTorch's GradScaler", raised)
        return math.inf
    right = states(
        torch.amp.GradScaler("cpu", SCALE, growth_factor=2.0, growth_interval=PATIENCE), False
    )
    errors = [
        abs(one - other)
        for state, wanted in zip(found, right, strict=True)
        for one, other in zip(state, wanted, strict=True)
    ]
    return max(errors) if all(map(math.isfinite, errors)) else math.inf


def states(scaler: Any, students: bool) -> list[tuple[float, ...]]:
    """Return the parameters and the loss scale after each step."""
    params = [torch.nn.Parameter(torch.tensor([1.0, -2.0])), torch.nn.Parameter(torch.ones(1))]
    optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.5)
    found = []
    for factor in STEPS:
        scale = scaler.scale if students else scaler.get_scale()
        # A gradient of infinity is in one parameter only.
        params[0].grad = torch.tensor([0.5, 1.0]) * factor * scale
        params[1].grad = torch.ones(1) * scale
        if students:
            scaler.step(optimizer, params)
        else:
            scaler.scale(torch.zeros(1))  # creates its scale
            scaler.step(optimizer)
            scaler.update()
        now = scaler.scale if students else scaler.get_scale()
        found.append((*params[0].tolist(), *params[1].tolist(), float(now)))
    return found


def padding_error(padded: Function, gpt: Function, loss_of: Function) -> float:
    """Return how much padding changes the loss of the same texts.

    It is infinite if the padded texts do not have the requested length.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1000)
        network = gpt(11, 16, layers=1, width=8, heads=2).double()
        texts = torch.randint(0, 11, (3, 17))
    errors = []
    for length in (5, 11, 16):
        ids, following = texts[:, :length], texts[:, 1 : length + 1]
        try:
            more = padded(ids, following, 16)
            if any(each.shape != (3, 16) for each in more):
                return math.inf
            errors.append(abs(float((loss_of(network(more[0]), more[1])
                                    - loss_of(network(ids), following)).detach())))  # fmt: skip
        except Exception as raised:
            tell("the difference that padding makes", raised)
            return math.inf
    return max(errors) if all(map(math.isfinite, errors)) else math.inf
