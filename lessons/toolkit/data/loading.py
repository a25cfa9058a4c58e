"""Load a data set: search, unpack, download, or use a stand-in."""

import os
import pickle
import textwrap
from pathlib import Path

import numpy as np

from cluster.launchers import launched
from lessons.toolkit.data import files, standin
from lessons.toolkit.data.catalogue import Entry, File
from lessons.toolkit.data.errors import DataError, say

JOB = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_JOB_ID")
Arrays = dict[str, np.ndarray]


def counts(entry: Entry, train: int | None, test: int | None) -> dict[str, int]:
    """Return the number of samples per split. Raise DataError if a split cannot provide them."""
    result = {}
    for split, count in {"train": train, "test": test}.items():
        most = getattr(entry, f"{split}_samples")
        result[split] = most if count is None else int(count)
        if not 1 <= result[split] <= most:
            raise DataError(
                f"{entry.title} has {most:,} {split} samples, so {split}_samples={count} cannot "
                f"be had; ask for 1 to {most}."
            )
    return result


def arrays_of(entry: Entry, counts: dict[str, int], stand_in: bool | None) -> tuple[Arrays, bool]:
    """Return the arrays, and whether they hold real data instead of a synthetic stand-in."""
    strict = stand_in is False or os.environ.get("COURSE_DATA_STRICT", "0") not in ("", "0")
    forced = stand_in is True or os.environ.get("COURSE_STAND_IN", "0") not in ("", "0")
    reason = "It was requested." if forced else _make_available(entry)
    if reason is None:
        return _read(entry, files.find(entry, files.folders()), counts), True
    looked = [f"{p}{'' if p.is_dir() else ' (no such folder)'}" for p in files.folders()]
    if strict:
        raise DataError(
            f"A stand-in for {entry.title} is forbidden (COURSE_DATA_STRICT=1 or stand_in=False). "
            f"{reason} Looked in {' and '.join(looked)}."
        )
    if (launch := launched()) is None or launch.local_rank == 0:
        parts = [
            f"SYNTHETIC DATA: this run does not use {entry.title} but a stand-in of its shape.",
            *(f"  looked in {place}" for place in looked if not forced),
            *textwrap.wrap(
                reason, 76, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
            ),
            f"  Accuracies of this run say nothing about {entry.title}; its record says synthetic.",
        ]
        say("\n".join(["=" * 78, *parts, "=" * 78]))
    return standin.stand_in(entry, counts), False


def _make_available(entry: Entry) -> str | None:
    """Make all files readable, or return a sentence that says why that is impossible."""
    found = files.find(entry, files.folders())
    complete = len(found) == len(entry.files)
    if complete and not any(path.name.endswith(files.ARCHIVES) for path in found.values()):
        return None
    # Jobs of the laptop's queue run on the laptop itself. Other jobs probably have no internet.
    in_job = any(os.environ.get(name) for name in JOB)
    if not complete and in_job and os.environ.get("COURSE_SCHEDULER") != "laptop":
        return (
            f"Batch jobs do not download data: run `lessons data fetch {entry.name}` on a login "
            "node first."
        )
    from lessons.toolkit.data import fetch

    try:
        fetch.fetch(entry, files.cache_folder(), files.folders())
    except DataError as error:
        if not complete:
            return str(error)
        say(f"{error} Each start reads from the archive.")
    return None


def _read(entry: Entry, found: dict[File, Path], counts: dict[str, int]) -> Arrays:
    """Return x_train, y_train, x_test, y_test: images as uint8, labels as int64."""
    result: Arrays = {}
    starts: dict[File, int] = {}
    for split, count in counts.items():
        result[f"x_{split}"] = np.empty((count, *entry.image), np.uint8)
        result[f"y_{split}"] = np.empty(count, np.int64)
        batches = [file for file in entry.files if file.holds == split]
        each = getattr(entry, f"{split}_samples") // max(len(batches), 1)
        starts |= {file: at * each for at, file in enumerate(batches) if at * each < count}
    if entry.format == "idx":
        starts = dict.fromkeys(entry.files, 0)
    # The members of an archive come in any order, so each batch is written to its place.
    for file, data in files.read(entry, {file: found[file] for file in starts}):
        for name, array in (_idx if entry.format == "idx" else _batch)(file, data).items():
            into = result[name][starts[file] :]
            into[: len(array)] = array[: len(into)]
    return result


def _idx(file: File, data: bytes) -> Arrays:
    """Read MNIST's format: a magic number, the sizes, then plain bytes."""
    dimensions = data[3]
    shape = np.frombuffer(data, ">u4", dimensions, offset=4)
    return {file.holds: np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)}


def _batch(file: File, data: bytes) -> Arrays:
    """Read a batch of CIFAR, which is a pickle: only bytes with the right checksum come here."""
    batch = pickle.loads(data, encoding="bytes")
    images = batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return {f"x_{file.holds}": images, f"y_{file.holds}": np.array(batch[b"labels"])}
