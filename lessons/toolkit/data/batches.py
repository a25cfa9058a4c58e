"""Batches of images, resized and scaled one at a time, so that no large float copy exists."""

from collections.abc import Iterator

import numpy as np


def batches(
    x: np.ndarray, y: np.ndarray, batch: int, size: int | None = None, seed: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the batches of one epoch: images as float32 in 0…1, and their labels.

    If `size` is given, images are resized to `size` by `size`. `seed` shuffles the samples; use a
    different one for each epoch. The last batch has the remaining images.
    """
    order = np.arange(len(x)) if seed is None else np.random.default_rng(seed).permutation(len(x))
    for start in range(0, len(x), batch):
        chosen = order[start : start + batch]
        images = scaled(x[chosen])
        yield (images if size is None else resized(images, size)), y[chosen]


def scaled(images: np.ndarray) -> np.ndarray:
    """Return bytes 0…255 as float32 0…1; floats are unchanged."""
    if images.dtype != np.uint8:
        return images
    return np.divide(images, np.float32(255), dtype=np.float32)


def resized(images: np.ndarray, size: int) -> np.ndarray:
    """Return images resized as by tf.image.resize (bilinear): (n, h, w, …) → (n, size, size, …)."""
    rows = _weights(images.shape[1], size)
    columns = _weights(images.shape[2], size)
    narrow = np.tensordot(rows, images, (1, 1))  # (size, n, w, …)
    wide = np.tensordot(columns, narrow, (1, 2))  # (size, size, n, …)
    return np.ascontiguousarray(np.moveaxis(wide, (0, 1, 2), (2, 1, 0)))


def _weights(old: int, new: int) -> np.ndarray:
    """Return how much each old pixel contributes to each new one, one row per new pixel."""
    # The centres of pixels are at half integers.
    at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    left = np.floor(at).astype(int)
    weights = np.zeros((new, old), np.float32)
    weights[np.arange(new), left] += 1 - (at - left)
    weights[np.arange(new), np.minimum(left + 1, old - 1)] += at - left
    return weights


def score(probabilities: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return cross-entropy and accuracy.

    Row i of the probabilities belongs to label i. Labels without a row count as wrong.
    """
    found = np.asarray(probabilities, np.float64)[: len(labels)]
    chosen = np.take_along_axis(found, labels[: len(found), None], axis=1)[:, 0]
    loss = -np.log(np.clip(chosen, 1e-7, 1)).sum() - np.log(1e-7) * (len(labels) - len(found))
    right = (found.argmax(axis=1) == labels[: len(found)]).sum()
    return float(loss / len(labels)), float(right / len(labels))
