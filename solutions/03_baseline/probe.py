"""Test train.py: does `prepare` keep every image, its label and its pixels?

python probe.py

Nothing here is to be filled in. Each image goes through `prepare` with its number in place of its
label. What comes out says which images were read, and in which order.
"""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import numpy as np
import tensorflow as tf

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import train

IMAGES, SIZE, BATCH = 75, 48, 32  # the last batch is smaller


def two_epochs():
    """Read all images twice, shuffled as in training, and compare them with the right ones."""
    images = np.random.default_rng(1).integers(0, 256, (IMAGES, 32, 32, 3), np.uint8)
    right = tf.image.resize(images.astype(np.float32) / 255, (SIZE, SIZE)).numpy()
    numbered = tf.data.Dataset.from_tensor_slices((images, np.arange(IMAGES)))
    batches = train.prepare(numbered.shuffle(IMAGES), SIZE, BATCH)
    away, orders = 0.0, []
    for _ in range(2):
        order = []
        for pictures, numbers in batches:
            asked = right[numbers.numpy().clip(0, IMAGES - 1)]
            alike = pictures.shape == asked.shape
            away = max(away, float(np.abs(pictures - asked).mean()) if alike else 1.0)
            order += numbers.numpy().tolist()
        orders.append(order)
    yield "pixels_away", away
    yield "images_missing", max(IMAGES - len(set(order)) for order in orders)
    yield "images_read_again", max(len(order) - len(set(order)) for order in orders)
    yield "reading_orders", len(set(map(tuple, orders)))


MEASURES = ("pixels_away", "images_missing", "images_read_again", "reading_orders")


def main():
    args = train.command_line().parse_args()  # the job starts both with the same options
    run_tests(Run("03", args, source="probe"), {two_epochs: MEASURES})


if __name__ == "__main__":
    main()
