"""Test lesson 06's α–β model on a size that it was not fitted to.

python benchmarks/lessons/alpha_beta.py

Target: within 30 % of the measured time, for 4 MB on 2 ranks. The alternative is the midpoint
between the two neighbouring sizes on a log–log line, which needs no model of rings.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from autograder.reading.files import read_files

PROGRAM = Path(__file__).parents[2] / "solutions" / "06_allreduce" / "exchange.py"
UNSEEN, TARGET = 4_000_000, 0.3


def ring_times(ranks: int) -> dict[int, float]:
    """Return the ring's seconds by bytes, measured as in lesson 06's job."""
    command = f"timeout 120 mpirun --allow-run-as-root --oversubscribe -np {ranks}".split()
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "job.out")
        with output.open("w") as sink:
            words = [*command, sys.executable, "-u", str(PROGRAM)]
            subprocess.run(words, cwd=folder, env=environ, stdout=sink, check=True)
        [run] = read_files([output])
    return {m["bytes"]: m["value"] for m in run.measures if m.get("scheme") == "ring"}


def fit(times: dict[int, float], ranks: int) -> tuple[float, float]:
    """Return the lesson's fit: least squares of the relative error."""
    sizes, seconds = np.array(list(times)), np.array(list(times.values()))
    rounds = 2 * (ranks - 1)
    rows = np.stack([np.full(len(sizes), rounds), rounds / ranks * sizes], axis=1)
    alpha, beta = np.linalg.lstsq(rows / seconds[:, None], np.ones(len(sizes)), rcond=None)[0]
    return float(alpha), float(beta)


def between(times: dict[int, float]) -> float:
    low = max(size for size in times if size < UNSEEN)
    high = min(size for size in times if size > UNSEEN)
    share = math.log(UNSEEN / low) / math.log(high / low)
    return times[low] * (times[high] / times[low]) ** share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    off: dict[str, list[float]] = {"the model": [], "its neighbours": []}
    for _ in range(args.repeats):
        times = ring_times(args.ranks)
        measured = times.pop(UNSEEN)
        alpha, beta = fit(times, args.ranks)
        rounds = 2 * (args.ranks - 1)
        foretold = rounds * (alpha + beta * UNSEEN / args.ranks)
        off["the model"].append(foretold / measured - 1)
        off["its neighbours"].append(between(times) / measured - 1)
        print(
            f"alpha {1e6 * alpha:5.1f} µs, {1e-9 / beta:.2f} GB/s: {UNSEEN / 1e6:g} MB measured"
            f" {1e3 * measured:.2f} ms, foretold {1e3 * foretold:.2f} ms"
        )
    print(f"{args.ranks} ranks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, errors in off.items():
        held = sum(abs(error) <= TARGET for error in errors)
        print(
            f"  {name:14} off by {statistics.median(errors):+.0%} ({min(errors):+.0%} to"
            f" {max(errors):+.0%}); within {TARGET:.0%} in {held} of {len(errors)}"
        )


if __name__ == "__main__":
    main()
