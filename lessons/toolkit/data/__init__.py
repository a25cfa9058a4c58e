"""The course's data sets: find, verify and download them, or use a stand-in.

from lessons.toolkit import data

mnist = data.load("mnist", train_samples=12800)
mnist.x_train, mnist.y_train, mnist.x_test, mnist.y_test, mnist.facts
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons.toolkit.data.batches import batches, resized, scaled, score
from lessons.toolkit.data.errors import DataError

__all__ = ["DataError", "DataSet", "batches", "load", "resized", "scaled", "score"]

# The data set that this process loaded last. A Run finds its facts and its images here.
LOADED: list["DataSet"] = []


@dataclass(frozen=True, eq=False)
class DataSet:
    """Training and test images with labels, and the facts for a run's record."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    facts: dict[str, Any]


def load(
    name: str,
    train_samples: int | None = None,
    test_samples: int | None = None,
    as_float: bool = True,
    stand_in: bool | None = None,
) -> DataSet:
    """Return the data set called `name`, or only its first samples.

    Images are float32 in 0…1. With as_float=False, they are uint8, which takes a quarter of the
    memory; scale and resize them in the pipeline. Labels are int64. A synthetic stand-in replaces
    data that cannot be obtained, unless stand_in=False or COURSE_DATA_STRICT=1; stand_in=True
    requests it. A program that does not catch a DataError prints its sentence and exits with 1.
    """
    from lessons.toolkit.data import catalogue, loading, standin

    entry = catalogue.entry(name)
    counts = loading.counts(entry, train_samples, test_samples)
    arrays, real = loading.arrays_of(entry, counts, stand_in)
    facts = {
        "name": entry.name,
        "sha256": entry.sha256 if real else standin.checksum(arrays),
        "synthetic": not real,
        "train_samples": counts["train"],
        "test_samples": counts["test"],
    }
    if as_float:
        for images in ("x_train", "x_test"):
            arrays[images] = scaled(arrays[images])
    LOADED[:] = [DataSet(**arrays, facts=facts)]
    return LOADED[0]
