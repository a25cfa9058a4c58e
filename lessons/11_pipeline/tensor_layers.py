"""Two dense layers, each cut over the ranks: who holds what, and what has to be added up.

A weight is (outputs, inputs), as in nn.Linear. Megatron's papers write x A with A = (inputs,
outputs): their columns are the rows of this weight. "column" means some of the outputs.
"""

import itertools
import sys

import torch
import torch.distributed as dist
from torch.nn.functional import linear


def cut(layer, way, rank, size):
    """Return this rank's part of (weight, bias) as tensor_split cuts. way: "column" or "row"."""
    weight, bias = layer
    raise NotImplementedError("Exercise 11.5: this rank's part of both")


def summed(tensor):
    """Return the sum of all ranks' tensors as a new one. All ranks call it equally often."""
    total = tensor.contiguous().clone()
    try:
        dist.all_reduce(total)
    except RuntimeError:
        said = f"rank {dist.get_rank()} is left alone with a sum of {tuple(tensor.shape)}:"
        sys.exit(f"{said} does every rank call `summed` as often, in one order?")
    return total


class ToParts(torch.autograd.Function):
    """The operator before a column layer: forward the same x, backward its gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError("Exercise 11.6: the gradient of x")


class FromParts(torch.autograd.Function):
    """The operator after a row layer: forward the whole output, backward each part's gradient."""

    @staticmethod
    def forward(ctx, part):
        raise NotImplementedError("Exercise 11.6: the whole output")

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError("Exercise 11.6: the gradient of this part")


def block(x, column, row):
    """Compute two layers with a relu between. A rank has a part of both, and the whole output."""
    raise NotImplementedError("Exercise 11.6: two layers, cut")


def bytes_a_step(way, sizes, batch, ranks, itemsize):
    """Return a rank's received bytes per step; way: "tensor" or "data". batch: of all ranks."""
    raise NotImplementedError("Exercise 11.7: bytes per step")
