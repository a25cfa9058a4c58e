"""Batches of different lengths, of which a compiled network needs only one kind."""

import torch

LENGTHS = (16, 32, 24, 28, 20)  # of the batches, over and over again


def padded(ids, following, length):
    """Return the batch with rows of `length` characters. The loss ignores those that are added."""
    raise NotImplementedError("Exercise 14.10: 0 for what is read, -100 for what should follow")
