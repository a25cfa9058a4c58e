"""When no gradients shall travel: a large batch in parts, and a step that one rank makes alone."""

import contextlib

import torch


def accumulate(model, loss_function, x, y, parts):
    """Gradients of a batch that is computed in parts; returns the loss and the outputs.

    model is wrapped by DistributedDataParallel; loss_function is a mean over the images it gets.
    """
    raise NotImplementedError(
        "Exercise 10.4: forward and backward of each part, all but the last in no_sync"
    )


def step_alone(model, optimizer, loss_function, x, y):
    """A step of this rank by itself: the others know nothing of it, so nothing may travel.

    model is wrapped by DistributedDataParallel; some of its layers may be BatchNorm.
    """
    raise NotImplementedError(
        "Exercise 10.5: zero_grad, forward and backward of the network inside, step"
    )
