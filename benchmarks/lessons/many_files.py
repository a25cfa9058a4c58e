"""Count what a job requests from a file system: names looked up, files opened, images per second.

python benchmarks/lessons/many_files.py [--samples 6400] [--folder /scratch/you]

1. Starting Python: system calls with a file name, counted by strace (left out without strace). On a
shared file system, each is a request to its metadata server, and every rank repeats it.

2. The same CIFAR-like records as one file per sample and as 32 packs, written, and read in random
order. The counts are the same everywhere. The seconds depend on the file system of --folder and on
the system's cache.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RECORD = 4 + 1 + 32 * 32 * 3  # as in lesson 04
PACKS = 32
PROGRAMS = {
    "python": "pass",
    "numpy": "import numpy",
    "torch": "import torch",
    "tensorflow": "import tensorflow",
    "tensorflow, horovod": "import tensorflow, horovod.tensorflow",
}


def names_asked(program: str) -> tuple[int, int]:
    """Return the calls with a file name that a program makes, and how many of them fail."""
    with tempfile.NamedTemporaryFile("r") as trace:
        command = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", trace.name]
        python = [sys.executable, "-W", "ignore", "-c", program]
        subprocess.run([*command, *python], check=True, stderr=subprocess.DEVNULL)
        lines = [line for line in trace if " = " in line]
    return len(lines), sum(bool(re.search(r" = -1 ENOENT", line)) for line in lines)


def starting() -> None:
    print(f"{'a process that imports':<24}{'names asked':>12}{'not there':>11}")
    for title, program in PROGRAMS.items():
        asked, missing = names_asked(program)
        print(f"{title:<24}{asked:>12,}{missing:>11,}", flush=True)


def reading(folder: Path, samples: int) -> None:
    rows = np.random.default_rng(0).integers(0, 256, (samples, RECORD), dtype=np.uint8)
    ways = {"files": list(rows), "packs": np.array_split(rows, PACKS)}
    print(f"\n{samples:,} records   {'opens an epoch':>14}{'written/s':>12}{'read/s':>12}")
    for way, pieces in ways.items():
        place = folder / way
        place.mkdir()
        start = time.perf_counter()
        for number, piece in enumerate(pieces):
            piece.tofile(place / f"{number:06d}.bin")
        written = time.perf_counter() - start
        names = [place / f"{number:06d}.bin" for number in range(len(pieces))]
        start = time.perf_counter()
        seen = sum(
            len(np.fromfile(names[number], np.uint8)) // RECORD
            for number in np.random.default_rng(1).permutation(len(names))
        )
        read = time.perf_counter() - start
        assert seen == samples
        print(
            f"{way:<16}{len(names):>14,}{samples / written:>12,.0f}{samples / read:>12,.0f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=6400)
    parser.add_argument("--folder", type=Path, help="where to write; default: the temporary folder")
    args = parser.parse_args()
    if shutil.which("strace"):
        starting()
    else:
        print("strace is not on this machine: what starting asks is not counted")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        reading(Path(folder), args.samples)


if __name__ == "__main__":
    main()
