"""Measure what a network computes for random images."""

from typing import Any

FLOOR = 1e-30  # smallest probability, before its logarithm is taken


def bend(model: Any) -> float:
    """Measure how far a classifier is from a linear map, using the mean of two images.

    The scores of the mean image are compared with the mean of the two images' scores, relative to
    the difference between these scores. The result is 0 if all layers together are one linear map.
    """
    import numpy as np

    shape = model.input_shape[1:]
    images = np.random.default_rng(1).normal(size=(2, 16, *shape)).astype(np.float32)

    def scores(x: Any) -> Any:
        values = np.log(np.maximum(np.asarray(model(x), dtype=np.float64), FLOOR))
        return values - values.mean(axis=1, keepdims=True)

    one, other, middle = scores(images[0]), scores(images[1]), scores(images.mean(axis=0))
    size = np.abs(one - other).max()
    return float(np.abs(middle - (one + other) / 2).max() / size) if size > 0 else 0.0
