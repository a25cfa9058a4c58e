"""A training step with four slow spots. `fast.py` has the same four functions."""

import torch

from gpt import loss_of
from store import together


def batches(texts, batch_size):
    """Return an iterable of batches, in the order of the texts."""
    for first in range(0, len(texts), batch_size):
        numbers = range(first, min(first + batch_size, len(texts)))
        yield together([texts[number] for number in numbers])


def gradients(model, ids, following):
    """Compute the gradients of a batch, one window at a time. Return the mean loss."""
    loss = 0
    for window, targets in zip(ids.split(1), following.split(1), strict=True):
        part = loss_of(model(window), targets) / len(ids)
        part.backward()
        loss += part.detach()
    return loss


def optimizer(params, lr):
    return torch.optim.AdamW(params, lr, betas=(0.9, 0.99))


def note(model, loss):
    """Return the loss and the norm of all gradients. They are plotted when the training is over."""
    squares = sum(param.grad.square().sum().item() for param in model.parameters())
    return torch.tensor([loss.item(), squares**0.5])
