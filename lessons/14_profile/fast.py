"""The same step without the slow spots. Each function does what its namesake in `slow.py` does."""

import torch
from torch.utils.data import DataLoader

from gpt import loss_of


def batches(texts, batch_size):
    """Return an iterable of batches, in the order of the texts."""
    raise NotImplementedError("Exercise 14.5: read without making the step wait")


def gradients(model, ids, following):
    """Compute the gradients of a batch. Return the mean loss, without its history."""
    raise NotImplementedError("Exercise 14.5: the same mean gradient, in fewer operations")


def optimizer(params, lr):
    raise NotImplementedError("Exercise 14.5: the same AdamW, in fewer operations")


def note(model, loss):
    """Return a tensor with the loss and the norm of all gradients, without waiting for them."""
    raise NotImplementedError("Exercise 14.5: the same two numbers, without waiting for them")
