"""Dense layers as plain tensors: the network, its loss on one device, and one step downhill."""

import itertools
import math

import torch
from torch.nn.functional import cross_entropy, linear


def sizes_of(width, depth):
    """Return the layers' input and output sizes: 784 pixels, then width, finally ten digits."""
    return [784] + [width] * (depth - 1) + [10]


def start(sizes, seed, precision, device="cpu"):
    """Return each layer's weight (outputs, inputs) and bias, the same on all ranks."""
    random = torch.Generator().manual_seed(seed)
    layers = []
    for inputs, outputs in itertools.pairwise(sizes):
        weight = torch.randn(outputs, inputs, generator=random, dtype=precision)
        weight *= (2 / inputs) ** 0.5
        layers.append((weight.to(device), torch.zeros(outputs, dtype=precision, device=device)))
    return layers


def batches_of(mnist, batch, steps, precision, device):
    """Return the batches, the same on all ranks."""
    images = torch.tensor(mnist.x_train.reshape(-1, 784), dtype=precision)
    labels = torch.tensor(mnist.y_train, dtype=torch.long)
    places = [torch.arange(step * batch, (step + 1) * batch) % len(images) for step in range(steps)]
    return [(images[place].to(device), labels[place].to(device)) for place in places]


def loss_sum(layers, x, labels):
    """Return the loss of all these images together; divide by their number for the mean."""
    for number, (weight, bias) in enumerate(layers):
        x = linear(torch.relu(x) if number else x, weight, bias)
    return cross_entropy(x, labels, reduction="sum")


def trainable(layers):
    """Return copies that can be trained; the originals do not change."""
    return [tuple(tensor.clone().requires_grad_() for tensor in layer) for layer in layers]


def gradients_of(loss, layers):
    """Return a gradient for each weight and bias; zeros if the loss does not depend on it."""
    params = [tensor for layer in layers for tensor in layer]
    found = torch.autograd.grad(loss, params, allow_unused=True)
    pairs = zip(params, found, strict=True)
    return [torch.zeros_like(param) if given is None else given for param, given in pairs]


def count(layers):
    return sum(tensor.numel() for layer in layers for tensor in layer)


@torch.no_grad()
def update(layers, gradients, lr):
    """Move every parameter against its gradient, in place."""
    params = [tensor for layer in layers for tensor in layer]
    for param, gradient in zip(params, gradients, strict=True):
        param -= lr * gradient


def difference(layers, others):
    """Return the largest difference of any parameter; infinite for other shapes and no numbers."""
    flat = [
        [tensor.detach().cpu() for layer in each for tensor in layer] for each in (layers, others)
    ]
    pairs = list(zip(*flat, strict=True))
    if any(one.shape != other.shape for one, other in pairs):
        return math.inf
    found = [float((one - other).abs().max()) for one, other in pairs]
    return max(found) if all(map(math.isfinite, found)) else math.inf
