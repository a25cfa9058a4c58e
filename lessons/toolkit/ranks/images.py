"""Check by pixels and labels which images the ranks read, whatever a file claims to contain."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

Images = tuple[np.ndarray, np.ndarray]  # pixels from 0 to 1, labels


def images_apart(own: Images, whole: Images, everyone: Callable[[Any], list]) -> dict[str, int]:
    """Count the images that the ranks read too often or never, and those outside the training set.

    everyone: a function that returns the values of all ranks, on every rank.
    """
    known, there = np.unique(names(*whole), return_counts=True)
    read, times = np.unique(np.concatenate(everyone(names(*own))), return_counts=True)
    ours = np.isin(read, known)
    often = np.zeros_like(there)
    often[np.searchsorted(known, read[ours])] = times[ours]
    return {
        "images_twice": int(np.maximum(often - there, 0).sum()),
        "images_missing": int(np.maximum(there - often, 0).sum()),
        "images_foreign": int(times[~ours].sum()),
    }


def names(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a unique number for each image: a hash of its pixels and its label."""
    pixels = np.round(np.asarray(x) * 255).astype(np.uint8)
    found = [
        hashlib.blake2b(image.tobytes() + bytes([int(label)]), digest_size=8).digest()
        for image, label in zip(pixels, y, strict=True)
    ]
    return np.frombuffer(b"".join(found), dtype=np.uint64)
