"""Make synthetic images of a data set's shape, for use when the real ones cannot be obtained.

Each class has a few smooth patterns. A sample is one of them, moved by up to two pixels, blended
with a pattern of another class, and covered with noise. Some labels are wrong. A network can learn
these images, and a better network learns more, but none reaches an accuracy of 1.0.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from lessons.toolkit.data.batches import resized
from lessons.toolkit.data.catalogue import Entry

SEED = 20200101
CLASSES = 10
SHIFT = 2
CHUNK = 1000


class Difficulty(NamedTuple):
    patterns: int  # per class
    blend: float  # largest share of another class's pattern
    noise: float  # share of noise
    wrong: float  # share of wrong labels


# Grey digits are easy, small photographs are not.
GREY = Difficulty(patterns=4, blend=0.35, noise=0.4, wrong=0.01)
COLOUR = Difficulty(patterns=6, blend=0.8, noise=0.5, wrong=0.08)


def stand_in(entry: Entry, counts: dict[str, int]) -> dict[str, np.ndarray]:
    """Return x_train, y_train, x_test, y_test with the shapes of the real data set.

    Each call returns the same bytes. The first n samples are the same however many are requested.
    """
    difficulty = COLOUR if len(entry.image) == 3 else GREY
    patterns = _patterns(entry.image, difficulty.patterns)
    arrays: dict[str, np.ndarray] = {}
    for stream, (split, count) in enumerate(counts.items()):
        x = np.empty((count, *entry.image), np.uint8)
        y = np.empty(count, np.int64)
        for start in range(0, count, CHUNK):
            rng = np.random.default_rng([SEED, stream, start])
            images, labels = _chunk(patterns, difficulty, rng)
            stop = min(start + CHUNK, count)
            x[start:stop] = images[: stop - start].reshape(-1, *entry.image)
            y[start:stop] = labels[: stop - start]
        arrays |= {f"x_{split}": x, f"y_{split}": y}
    return arrays


def checksum(arrays: dict[str, np.ndarray]) -> str:
    """Return a checksum of the arrays' bytes, since a stand-in has no files."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def _patterns(image: list[int], number: int) -> np.ndarray:
    """Return patterns of smooth blobs, which small shifts hardly change.

    Axes are class, pattern, shift and pixel; values are 0…255.
    """
    rng = np.random.default_rng([SEED, 99])
    colours = image[2] if len(image) == 3 else 1
    coarse = rng.standard_normal((CLASSES * number, 6, 6, colours))
    # Whole numbers, because the last bit of exp() differs between machines.
    smooth = np.rint(255 / (1 + np.exp(-4 * resized(coarse, image[0]))))
    shifts = range(-SHIFT, SHIFT + 1)
    moved = [np.roll(smooth, (down, right), (1, 2)) for down in shifts for right in shifts]
    return np.stack(moved, 1).reshape(CLASSES, number, len(moved), -1).astype(np.float32)


def _chunk(
    patterns: np.ndarray, difficulty: Difficulty, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.integers(CLASSES, size=CHUNK)
    other = rng.integers(CLASSES, size=CHUNK)
    share = rng.uniform(0, difficulty.blend, (CHUNK, 1)).astype(np.float32)
    images = (1 - share) * patterns[truth, *_which(patterns, rng)]
    images += share * patterns[other, *_which(patterns, rng)]
    images *= 1 - difficulty.noise
    images += difficulty.noise * rng.integers(256, size=images.shape, dtype=np.uint8)
    mistaken = rng.random(CHUNK) < difficulty.wrong
    labels = np.where(mistaken, rng.integers(CLASSES, size=CHUNK), truth)
    return images.astype(np.uint8), labels


def _which(patterns: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return (
        rng.integers(patterns.shape[1], size=CHUNK),
        rng.integers(patterns.shape[2], size=CHUNK),
    )
