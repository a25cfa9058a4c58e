"""Recompute one real training step in each epoch, and compare it with the program's step.

The step is drawn at random while the program runs. This module binds the functions that communicate
when it is imported, before a student's module can replace them. The package does not import this
module, because it needs PyTorch.
"""

import copy
import math
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.distributed import ReduceOp, all_reduce, broadcast, get_world_size, new_group

from lessons.toolkit.probes.updates import length_ratio

SUM, MAX = ReduceOp.SUM, ReduceOp.MAX

NAMES = ("drawn_error", "drawn_spread", "drawn_largest", "drawn_images")


class Watched(NamedTuple):
    """A drawn step: the state before it, and what the program did."""

    before: list[torch.Tensor]  # parameters and buffers
    optimizer: dict[str, Any]
    gradient: torch.Tensor
    after: torch.Tensor
    inputs: list[Any]  # what entered the network


class DrawnSteps:
    """One step of each epoch, recomputed from the mean of all ranks' gradients.

    Every rank creates this object and calls its methods. network: the program's network, before
    anything wraps it. loss_function: a mean over images.
    """

    def __init__(self, network: nn.Module, loss_function: nn.Module) -> None:
        self.twin, self.loss_function = copy.deepcopy(network), loss_function
        self.params, self.state = list(network.parameters()), state_of(network)
        self.group = new_group()  # only this object uses it
        self.worst = torch.full((len(NAMES),), -math.inf, dtype=torch.float64)
        self.inputs: list[Any] = []
        inputs = self.inputs  # the hook holds only this list, so the network can still be copied
        network.register_forward_pre_hook(lambda _, values: inputs.extend(values[:1]))

    def draw(
        self, images: torch.Tensor, labels: torch.Tensor, order: Sequence[int], batch_size: int
    ) -> None:
        """Draw one of the next epoch's steps with a full batch.

        order: the images that this rank will report as read in the epoch.
        """
        steps = max(1, len(order) // batch_size)
        drawn = torch.tensor(secrets.randbelow(steps), device=self.params[0].device)
        broadcast(drawn, 0, self.group)
        self.steps_left = int(drawn)
        first = self.steps_left * batch_size
        batch = torch.tensor(np.array(order, dtype=int)[first : first + batch_size])
        self.images, self.labels = images[batch], labels[batch]
        self.batch_size = batch_size
        self.watched: Watched | None = None

    @contextmanager
    def watch(self, optimizer: torch.optim.Optimizer) -> Iterator[None]:
        """Watch the step in a `with` block. Save the state before and after the drawn step."""
        self.inputs.clear()
        self.steps_left -= 1
        if self.steps_left != -1:
            yield
            return
        self.optimizer_class: Any = type(optimizer)
        before = [values.detach().clone() for values in self.state]
        moments = copy.deepcopy(optimizer.state_dict())
        yield
        gradients = (torch.zeros_like(p) if p.grad is None else p.grad for p in self.params)
        after = flat(self.params)
        self.watched = Watched(before, moments, flat(gradients), after, list(self.inputs))

    def compute_again(self) -> None:
        """Recompute the drawn step. Call this after the epoch's last step.

        A rank without the drawn step takes part, because the others wait for its messages.
        """
        watched = self.watched
        twin = list(self.twin.parameters())
        if watched is not None:
            with torch.no_grad():
                for values, old in zip(state_of(self.twin), watched.before, strict=True):
                    values.copy_(old)
        # Another class could lie about its length.
        plain = [each for each in watched.inputs if type(each) is torch.Tensor] if watched else []
        largest = max((len(each) for each in plain), default=0)
        before = flat(twin)
        mean = self.reduced(self.gradient(largest or self.batch_size), SUM)
        mean /= get_world_size(self.group)
        after = before if watched is None else watched.after
        spread = float((self.reduced(after, MAX) + self.reduced(-after, MAX)).max())
        found = [math.inf, spread, math.inf, 0.0]
        if watched is not None:
            right = self.updated(twin, mean, watched.optimizer)
            errors = (
                length_ratio(watched.gradient - mean, mean),
                length_ratio(after - right, right - before),
            )
            missing = (rows([self.images]) - rows(plain)).total()
            found = [max(errors), spread, largest, missing - self.batch_size]
        worst = torch.tensor(found, dtype=torch.float64).nan_to_num(nan=math.inf, posinf=math.inf)
        self.worst = torch.maximum(self.worst, self.reduced(worst, MAX))

    def gradient(self, most: int) -> torch.Tensor:
        """Return this rank's gradient. most: the maximum number of images in a forward pass."""
        device, total = self.params[0].device, torch.zeros(())
        pieces = zip(self.images.split(most), self.labels.split(most), strict=True)
        for images, labels in pieces:
            loss = self.loss_function(self.twin(images.to(device)), labels.to(device))
            share = len(images) / len(self.images)
            total = total + share * flat(torch.autograd.grad(loss, list(self.twin.parameters())))
        return total

    def reduced(self, values: torch.Tensor, operation: Any) -> torch.Tensor:
        """Return the sum or the maximum of the values over all ranks, on every rank."""
        there = values.to(self.params[0].device, copy=True)
        all_reduce(there, operation, self.group)
        return there.cpu()

    def updated(
        self, params: list[nn.Parameter], mean: torch.Tensor, moments: dict[str, Any]
    ) -> torch.Tensor:
        """Return the parameters after the optimizer has applied the mean gradient."""
        optimizer = self.optimizer_class(params)
        optimizer.load_state_dict(moments)
        pieces = mean.split([param.numel() for param in params])
        for param, piece in zip(params, pieces, strict=True):
            param.grad = piece.view_as(param).to(param)
        optimizer.step()
        return flat(params)

    def measures(self) -> dict[str, float]:
        """Return the worst value of each measure, over all ranks and epochs.

        drawn_error: the relative error of the gradient or of the update, whichever is larger.
        drawn_spread: the largest difference between two ranks in any parameter, right after the
        step. drawn_largest: the most images in one forward pass. drawn_images: the size of a
        batch, less the step's images that did not enter the network.
        """
        error, spread, largest, entered = self.worst.tolist()
        return dict(zip(NAMES, (error, spread, largest, -entered), strict=True))


def state_of(network: nn.Module) -> list[torch.Tensor]:
    return [*network.parameters(), *network.buffers()]


def flat(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return a copy of all these numbers in one row, on the CPU, in double precision."""
    return torch.cat([each.detach().reshape(-1) for each in tensors]).cpu().double()


def rows(tensors: Iterable[torch.Tensor]) -> Counter[bytes]:
    """Count equal images, by their bytes."""
    return Counter(row.numpy().tobytes() for each in tensors for row in each.detach().cpu())
