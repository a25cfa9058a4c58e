"""Compare lesson 09's sweep in smoke with one training: python benchmarks/lessons/lr_sweep.py

Target: at most 20 s on one core. The seconds depend on the machine, but the ratio to one separate
training, including the program's start, depends on the course. It is below the number of trainings,
because the sweep starts the program and reads the data only once.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.reading.files import read_files

PROGRAM = Path(__file__).parents[2] / "solutions" / "09_learning_rate" / "train.py"
SWEEP = ["--workers", "1", "4", "8", "16", "64"]
WARM = ["--workers", "16", "64", "--rules", "linear", "--warmup", "1", "--decay", "cosine"]
ONE = ["--workers", "1", "--rules", "same", "--seeds", "1"]
TARGET = 20.0


def timed(*arguments: str) -> tuple[float, int]:
    """Return the seconds of a run on one core, and the number of trainings in it."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    core = str(min(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "job.out")
        command = ["taskset", "-c", core, sys.executable, "-u", str(PROGRAM)]
        with output.open("w") as sink:
            begin = time.perf_counter()
            sizes = ["--train-samples", "12800"]
            words = [*command, *sizes, *arguments]
            subprocess.run(words, cwd=folder, env=environ, stdout=sink, check=True)
            seconds = time.perf_counter() - begin
        runs = read_files([output])
    assert all(run.outcome == "completed" for run in runs)
    return seconds, len(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    timed(*ONE)  # loads the files into the disk cache
    singles, sweeps, trainings = [], [], 0
    for _ in range(repeats):
        singles.append(timed(*ONE)[0])
        (first, many), (second, few) = timed(*SWEEP), timed(*WARM)
        sweeps.append(first + second)
        trainings = many + few
    ratios = [a / b for a, b in zip(sweeps, singles, strict=True)]
    typical, load = statistics.median(sweeps), os.getloadavg()[0]
    print(
        f"sweep of {trainings} trainings, one core, load {load:.1f}: {typical:.1f} s"
        f" ({min(sweeps):.1f} to {max(sweeps):.1f}), target {TARGET:.0f} s:"
        f" {'held' if typical <= TARGET else 'missed'}"
    )
    print(
        f"one training alone: {statistics.median(singles):.2f} s; the sweep is"
        f" {statistics.median(ratios):.1f} times that ({min(ratios):.1f} to {max(ratios):.1f}),"
        f" not {trainings}"
    )


if __name__ == "__main__":
    main()
