"""Steps that send no gradients: a large batch in parts, and a step of a single rank."""

import contextlib

import torch


def accumulate(model, loss_function, x, y, parts):
    """Compute a batch's gradients in parts. Return the loss and the outputs.

    model is wrapped by DistributedDataParallel; loss_function is a mean over the images it gets.
    The loss is a tensor, the mean over the whole batch. The outputs are those of all images, in
    order, as one tensor.
    """
    raise NotImplementedError("Exercise 10.4: the gradients of all parts, sent once")


def step_in_parts(model, optimizer, loss_function, x, y, parts):
    """Make an update from a batch in parts. Return the loss and the outputs."""
    if not hasattr(model, "no_sync"):
        raise SystemExit("--accumulate needs --average ddp: only DDP has no_sync.")
    optimizer.zero_grad()
    loss, outputs = accumulate(model, loss_function, x, y, parts)
    optimizer.step()
    return loss, outputs


def step_alone(model, optimizer, loss_function, x, y):
    """Make a step on this rank alone. The other ranks do not take part, so send nothing.

    model is wrapped by DistributedDataParallel; some of its layers may be BatchNorm.
    """
    raise NotImplementedError("Exercise 10.5: one whole step, in which nobody else takes part")
