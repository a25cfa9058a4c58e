"""Exercise 17.5: a batch of texts of different lengths, in parts and on several ranks."""

import contextlib

import torch
import torch.distributed as dist
from torch import nn

PADDING = -100  # no token follows; cross_entropy leaves these places out


def token_losses(model, texts):
    """Return the sum of the losses, and the number of places that have a following token.

    texts: a tensor (texts, tokens + 1); PADDING fills the end of shorter texts.
    """
    following = texts[:, 1:]
    scores = model(texts[:, :-1].clamp(min=0))
    losses = nn.functional.cross_entropy(
        scores.flatten(0, 1), following.flatten(), ignore_index=PADDING, reduction="sum"
    )
    return losses, (following != PADDING).sum()


def accumulate(model, parts):
    """Compute the gradients of one batch, the parts of all ranks: each *token* weighs the same.

    model is wrapped in DDP, which takes the mean over ranks. parts: this rank's tensors of texts.
    """
    raise NotImplementedError("Exercise 17.5: the gradients of all parts")
