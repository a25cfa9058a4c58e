"""Check what a student's tf.data pipeline really yields, from its output.

The images' indices pass through the pipeline in place of their labels. Its output can therefore be
compared with the data set, the samples that training reads can be counted, and the student's
functions cannot alter a label.
"""

import sys
from typing import Any

import numpy as np

from lessons.toolkit.data import resized, scaled


def pixels_away(images: Any, numbers: Any, originals: np.ndarray) -> float:
    """Return the mean error per pixel of a batch, from 0 to 1.

    The batch is compared with the data set's images at these indices, scaled to 0…1 and resized. If
    the shapes differ, the error is 1.
    """
    images, numbers = np.asarray(images), np.asarray(numbers).reshape(-1).astype(np.int64)
    asked = (len(numbers), *images.shape[1:2], *images.shape[1:2], *originals.shape[3:])
    if not numbers.size or images.shape != asked:
        return 1.0
    right = scaled(np.take(originals, numbers, axis=0, mode="clip"))
    if images.shape[1] != right.shape[1]:
        right = resized(right, images.shape[1])
    return float(np.abs(images - right).mean())


def labels_right(found: Any, numbers: Any, labels: np.ndarray) -> float:
    """Return the fraction of the labels that are right for these indices."""
    numbers = np.asarray(numbers).reshape(-1).astype(np.int64)
    found = np.asarray(found).reshape(-1)
    if found.shape != numbers.shape or not numbers.size:
        return 0.0
    return float(np.mean(found == np.take(labels, numbers, mode="clip")))


def with_labels(batches: Any, labels: np.ndarray, read: list[np.ndarray]) -> Any:
    """Return the batches (images, indices) with each index replaced by its label.

    `read` collects the indices of each batch that is read.
    """
    tf = sys.modules["tensorflow"]

    def look_up(numbers: np.ndarray) -> np.ndarray:
        numbers = numbers.astype(np.int64)
        read.append(numbers)
        return np.take(labels, numbers, mode="clip")

    def in_its_place(images: Any, numbers: Any) -> tuple[Any, Any]:
        found = tf.numpy_function(look_up, [numbers], labels.dtype)
        found.set_shape(numbers.shape)
        return images, found

    return batches.map(in_its_place)
