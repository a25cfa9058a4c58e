"""Tests of how far a network is from one linear map, with networks in NumPy."""

import numpy as np
import pytest

from lessons.toolkit.record.networks import bend

rng = np.random.default_rng(3)
W1, W2 = rng.normal(size=(49, 20)) / 7, rng.normal(size=(20, 10))


class Network:
    input_shape = (None, 7, 7)

    def __init__(self, between):
        self.between = between

    def __call__(self, x):
        scores = self.between(x.reshape(len(x), 49) @ W1) @ W2
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("between", "low", "high"),
    [
        (lambda hidden: np.maximum(hidden, 0), 0.05, 1),
        (np.tanh, 0.02, 1),
        (lambda hidden: hidden, 0, 1e-4),
        (lambda hidden: hidden - 3, 0, 1e-4),
        (lambda hidden: 0 * hidden, 0, 0),
    ],
)
def test_what_bends(between, low, high):
    assert low <= bend(Network(between)) <= high
