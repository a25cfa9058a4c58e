"""Exercise 17.3: BatchNorm over the images of all ranks, with one collective."""

import torch
import torch.distributed as dist


class SumOverRanks(torch.autograd.Function):
    """A sum over ranks. All ranks' losses depend on it, so its gradient is a sum over ranks."""

    @staticmethod
    def forward(context, tensor):
        total = tensor.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(context, gradient):
        total = gradient.clone()
        dist.all_reduce(total)
        return total


def whole_batch_norm(x, eps=1e-5):
    """Return x (images, features), normalised by mean and variance of all ranks' images.

    The ranks may have different numbers of images. `SumOverRanks.apply(tensor)` is one collective.
    """
    ### BEGIN SOLUTION Exercise 17.3: normalise with one collective
    total = SumOverRanks.apply(torch.cat([x.sum(0), (x * x).sum(0), x.new_tensor([len(x)])]))
    sums, squares = total[:-1].chunk(2)
    mean = sums / total[-1]
    # Enough in float64. In float32 it loses digits where the mean is far larger than the spread.
    variance = squares / total[-1] - mean * mean
    return (x - mean) / torch.sqrt(variance + eps)
    ### END SOLUTION
