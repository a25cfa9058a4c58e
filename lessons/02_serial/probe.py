"""Test train_torch.py: does its training step do what a step by hand does?

python probe.py

Nothing here is to be filled in. The job runs it after the training.
"""

import torch
from torch import nn

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import train_torch

RATE = 0.5


def command_line():
    return train_torch.command_line()  # the job starts both programs with the same options


def two_steps():
    """Take two steps with a small network, and compute them by hand, in double precision."""
    torch.manual_seed(1)
    model = nn.Linear(6, 4).double()
    weights, biases = (each.detach().clone() for each in (model.weight, model.bias))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    pairs = []
    for _ in range(2):  # the second shows whether gradients are set to zero
        x, y = torch.rand(5, 6).double(), torch.randint(0, 4, (5,))
        loss, outputs = train_torch.train_step(model, optimizer, nn.CrossEntropyLoss(), x, y)
        scores = x @ weights.T + biases
        errors = scores.softmax(1)
        pairs += [(outputs, scores), (loss, -errors[range(5), y].log().mean())]
        errors[range(5), y] -= 1
        weights = weights - RATE * errors.T @ x / 5
        biases = biases - RATE * errors.mean(0)
    pairs += [(model.weight, weights), (model.bias, biases)]
    yield "step_error", max(float((found - right).abs().max()) for found, right in pairs)


def main():
    run = Run("02", command_line().parse_args(), source="probe")
    run_tests(run, {two_steps: ("step_error",)})


if __name__ == "__main__":
    main()
