"""Steps that send no gradients: a large batch in parts, and a step of a single rank."""

import contextlib

import torch


def accumulate(model, loss_function, x, y, parts):
    """Compute a batch's gradients in parts. Return the loss and the outputs.

    model is wrapped by DistributedDataParallel; loss_function is a mean over the images it gets.
    The loss is a tensor, the mean over the whole batch. The outputs are those of all images, in
    order, as one tensor.
    """
    ### BEGIN SOLUTION Exercise 10.4: the gradients of all parts, sent once
    chunks = list(zip(x.chunk(parts), y.chunk(parts), strict=True))
    loss, outputs = 0, []
    for number, (xs, ys) in enumerate(chunks, 1):
        last = number == len(chunks)
        with contextlib.nullcontext() if last else model.no_sync():
            outputs.append(model(xs))
            share = loss_function(outputs[-1], ys) * len(xs) / len(x)
            share.backward()
        loss += share.detach()
    return loss, torch.cat(outputs).detach()
    ### END SOLUTION


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
    ### BEGIN SOLUTION Exercise 10.5: one whole step, in which nobody else takes part
    optimizer.zero_grad()
    loss_function(model.module(x), y).backward()
    optimizer.step()
    ### END SOLUTION
