"""The same step without the slow spots. Each function does what its namesake in `slow.py` does."""

import torch
from torch.utils.data import DataLoader

from gpt import loss_of


def batches(texts, batch_size):
    """Return an iterable of batches, in the order of the texts."""
    ### BEGIN SOLUTION Exercise 14.5: read without making the step wait
    return DataLoader(texts, batch_size, num_workers=2, prefetch_factor=4)
    ### END SOLUTION


def gradients(model, ids, following):
    """Compute the gradients of a batch. Return the mean loss, without its history."""
    ### BEGIN SOLUTION Exercise 14.5: the same mean gradient, in fewer operations
    loss = loss_of(model(ids), following)
    loss.backward()
    return loss.detach()
    ### END SOLUTION


def optimizer(params, lr):
    ### BEGIN SOLUTION Exercise 14.5: the same AdamW, in fewer operations
    return torch.optim.AdamW(params, lr, betas=(0.9, 0.99), fused=True)
    ### END SOLUTION


def note(model, loss):
    """Return a tensor with the loss and the norm of all gradients, without waiting for them."""
    ### BEGIN SOLUTION Exercise 14.5: the same two numbers, without waiting for them
    norms = torch.stack([param.grad.norm() for param in model.parameters()])
    return torch.stack([loss, norms.norm()])
    ### END SOLUTION
