"""What a student's tf.data pipeline really gives, seen from behind it.

The images' numbers go through the pipeline in the place of their labels. So what comes out can be
compared with the data set, it can be counted what training reads, and no label can be altered.
"""

import sys
from typing import Any

import numpy as np

from lessons.toolkit.data import resized, scaled


def pixels_away(images: Any, numbers: Any, originals: np.ndarray) -> float:
    """How far a pixel is from what it should be, 0 to 1, in the mean over a batch: images of these
    numbers against the data set's own, scaled to 0…1 and resized. 1 if their shapes are others."""
    images, numbers = np.asarray(images), np.asarray(numbers).reshape(-1).astype(np.int64)
    asked = (len(numbers), *images.shape[1:2], *images.shape[1:2], *originals.shape[3:])
    if not numbers.size or images.shape != asked:
        return 1.0
    right = scaled(np.take(originals, numbers, axis=0, mode="clip"))
    if images.shape[1] != right.shape[1]:
        right = resized(right, images.shape[1])
    return float(np.abs(images - right).mean())


def labels_right(found: Any, numbers: Any, labels: np.ndarray) -> float:
    """Share of the labels that are those of these numbers."""
    numbers = np.asarray(numbers).reshape(-1).astype(np.int64)
    found = np.asarray(found).reshape(-1)
    if found.shape != numbers.shape or not numbers.size:
        return 0.0
    return float(np.mean(found == np.take(labels, numbers, mode="clip")))


def with_labels(batches: Any, labels: np.ndarray, read: list[np.ndarray]) -> Any:
    """The batches (images, numbers), each number's label in its place; `read` collects the numbers
    of each batch that is asked for."""
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
