"""Compare samples per second from packs and from one file per sample, with lesson 04's files.

python benchmarks/lessons/packs.py

Target: reading the real CIFAR-10 from packs gives at least 10 times the samples per second. The
result is the median of paired runs on one core, each with a new order of files and packs. Warm: the
system's cache contains everything. Cold: before each run the system was asked to drop the contents
(names and inodes may still be cached). The difference will be larger on a shared file system.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SOLUTION = Path(__file__).parents[2] / "solutions" / "04_feeding"
TARGET = 10.0


def read_all(names: list[str], record: int) -> int:
    """Open and read these files, split them into images and labels, and return the samples."""
    samples = 0
    for name in names:
        rows = np.fromfile(name, np.uint8).reshape(-1, record)
        images, labels = rows[:, 5:].reshape(-1, 32, 32, 3), rows[:, 4]
        samples += min(len(images), len(labels))
    return samples


def forget(names: list[str]) -> None:
    """Ask the system to drop these files' contents from its cache."""
    for name in names:
        file = os.open(name, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def rate(names: list[str], record: int, samples: int, cold: bool) -> float:
    if cold:
        forget(names)
    start = time.perf_counter()
    found = read_all(names, record)
    seconds = time.perf_counter() - start
    assert found == samples, f"{found} samples read, {samples} written"
    return samples / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-samples", type=int, default=6400)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--folder", help="on which file system; default: the temporary folder")
    args = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.path.insert(0, str(SOLUTION))
    from lessons.toolkit import data

    import sources

    cifar = data.load("cifar10", args.train_samples, 1, as_float=False, stand_in=False)
    count = len(cifar.y_train)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        files, packs = (sources.names_of(way, cifar, folder) for way in ("files", "packs"))
        os.sync()  # data that is not on the disk yet cannot be dropped from the cache
        print(f"{platform.processor() or platform.machine()}, one core; CIFAR-10, {count} samples")
        print(f"in {len(files)} files and in {len(packs)} packs; median of {args.pairs} pairs")
        for cold in (False, True):
            pairs = []
            for pair in range(args.pairs):
                names = [list(sources.order(some, pair, 1)) for some in (files, packs)]
                pairs.append([rate(some, sources.RECORD, count, cold) for some in names])
            ratios = sorted(fast / slow for slow, fast in pairs)
            middle = statistics.median(ratios)
            slow, fast = (statistics.median(rates) for rates in zip(*pairs, strict=True))
            print(
                f"{'cold' if cold else 'warm'}: files {slow:,.0f}, packs {fast:,.0f} samples/s; "
                f"packs over files {middle:.1f} [{ratios[0]:.1f}, {ratios[-1]:.1f}], "
                f"target {TARGET:g}: {'reached' if middle >= TARGET else 'MISSED'}"
            )


if __name__ == "__main__":
    main()
