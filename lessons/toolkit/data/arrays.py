"""Turn verified files into arrays of bytes, with only as many samples as requested."""

from pathlib import Path

import numpy as np

from lessons.toolkit.data import cifar, contents, idx
from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.errors import DataError

Arrays = dict[str, np.ndarray]


def read(entry: Entry, found: dict[File, Path], counts: dict[str, int]) -> Arrays:
    """Return x_train, y_train, x_test, y_test: images as uint8, labels as int64.

    `counts` is the number of samples of each split, from the start.
    """
    arrays = _read_idx if entry.format == "idx" else _read_cifar
    try:
        return arrays(entry, found, counts)
    except ValueError as error:  # right checksum, wrong format: only a wrong catalogue causes that
        raise DataError(f"The catalogue's entry for {entry.name} does not fit: {error}.") from error


def _read_idx(entry: Entry, found: dict[File, Path], counts: dict[str, int]) -> Arrays:
    result = {}
    for file, data in contents.read(entry, found):
        count = counts[file.holds.split("_")[1]]
        array = idx.parse(data)[:count]
        # A copy of its own, so that the file's other bytes are freed and training may write.
        result[file.holds] = array.astype(np.int64) if array.ndim == 1 else array.copy()
    return result


def _read_cifar(entry: Entry, found: dict[File, Path], counts: dict[str, int]) -> Arrays:
    result: Arrays = {}
    starts: dict[File, int] = {}
    for split, count in counts.items():
        files = [file for file in entry.files if file.holds == split]
        per_file = getattr(entry, f"{split}_samples") // len(files)
        starts |= {file: i * per_file for i, file in enumerate(files) if i * per_file < count}
        result[f"x_{split}"] = np.empty((count, *entry.image), np.uint8)
        result[f"y_{split}"] = np.empty(count, np.int64)
    # The members of an archive come in any order, so each batch is written to its place.
    for file, data in contents.read(entry, {file: found[file] for file in starts}):
        pixels, labels = cifar.parse(data)
        start = starts[file]
        stop = min(start + len(labels), counts[file.holds])
        result[f"x_{file.holds}"][start:stop] = cifar.images(pixels)[: stop - start]
        result[f"y_{file.holds}"][start:stop] = labels[: stop - start]
    return result
