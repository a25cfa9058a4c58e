"""Lesson 01's network and batches, for ranks that each compute a share of every batch."""

import numpy as np


def start(rng, inputs=784, hidden=64, outputs=10):
    """Return initial parameters: random weights that keep the signal's size, and zero biases."""
    w1 = rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden))
    w2 = rng.normal(0, np.sqrt(2 / hidden), (hidden, outputs))
    parts = [w1, np.zeros(hidden), w2, np.zeros(outputs)]
    return [part.astype(np.float32) for part in parts]


def forward(params, x):
    """Return each image's probabilities of the ten digits, and what the backward pass needs."""
    w1, b1, w2, b2 = params
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)  # changes no probability; exp cannot overflow
    powers = np.exp(scores)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return probabilities, (x, hidden, w2, probabilities)


def cross_entropy(probabilities, labels):
    """Return the sum of -log(probability of the right digit)."""
    right = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(right, 1e-30)).sum())


def backward(cache, labels, batch):
    """Return this rank's part of the gradients of the mean cross-entropy over `batch` images."""
    x, hidden, w2, probabilities = cache
    d_scores = probabilities.copy()
    d_scores[np.arange(len(labels)), labels] -= 1
    d_scores /= batch
    d_hidden = d_scores @ w2.T
    d_hidden *= hidden > 0  # relu passes on only what was above zero
    return [x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]


def minibatches(n, batch, rng):
    """Return index arrays that contain 0 ... n-1 once each, in a new random order at each call."""
    shuffled = rng.permutation(n)
    return [shuffled[first : first + batch] for first in range(0, n, batch)]
