"""Compare a student's loss scaler with PyTorch's.

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
