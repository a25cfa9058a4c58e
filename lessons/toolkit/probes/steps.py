"""Test a training step against the same step computed by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.toolkit.probes.refusal import tell

MOST = 1e3  # stands for a larger error, and for one that is not a number


def step_error(train_step: Callable[..., Any]) -> float:
    """Return the largest error after two steps of gradient descent on a small network.

    Parameters, losses and outputs are compared with those computed by hand.
    """
    import torch

    rng, rate = np.random.default_rng(1), 0.5
    weights, biases = rng.normal(size=(4, 6)), rng.normal(size=4)
    with torch.random.fork_rng(devices=[]):  # the program's random numbers do not change
        model = torch.nn.Linear(6, 4, dtype=torch.float64)
    with torch.no_grad():
        model.weight.copy_(torch.tensor(weights))
        model.bias.copy_(torch.tensor(biases))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)

    pairs = []
    for _ in range(2):  # the second shows whether gradients are set to zero
        x, labels = rng.normal(size=(5, 6)), rng.integers(0, 4, 5)
        data = torch.tensor(x), torch.tensor(labels)
        try:
            loss, outputs = train_step(model, optimizer, torch.nn.CrossEntropyLoss(), *data)
        except Exception as raised:
            tell("the step's error", raised)
            return MOST
        scores = x @ weights.T + biases
        powers = np.exp(scores)
        errors = powers / powers.sum(axis=1, keepdims=True)
        right = -np.log(errors[np.arange(5), labels]).mean()
        errors[np.arange(5), labels] -= 1
        weights = weights - rate * errors.T @ x / 5
        biases = biases - rate * errors.mean(axis=0)
        pairs += [(outputs, scores), (loss, right)]
    pairs += [(model.weight, weights), (model.bias, biases)]
    return max(difference(found, right) for found, right in pairs)


def difference(found: Any, right: Any) -> float:
    """Return the largest absolute difference, capped at MOST.

    The result is `MOST` if the value is not an array of this shape.
    """
    try:
        values = found.detach().cpu().numpy() if hasattr(found, "detach") else np.asarray(found)
        worst = float(np.abs(values - right).max()) if values.shape == np.shape(right) else MOST
    except (TypeError, ValueError, RuntimeError):  # not an array of numbers
        return MOST
    return worst if worst < MOST else MOST
