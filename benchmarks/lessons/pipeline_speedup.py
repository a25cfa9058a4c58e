"""Measure the speedup of a pipeline of two stages on lesson 11's nine dense layers.

python benchmarks/lessons/pipeline_speedup.py [--rounds 15] [--launches 3]

Each launch runs interleaved rounds in the same two processes with one thread each: rank 0 alone
with the whole network, both ranks with a network each (the ceiling of this machine), and the
pipeline with 1, 2, 4, 8 and 16 micro-batches. All use batches of 2,048 images. Ratios are computed
within a round, and the best number of micro-batches is chosen per launch. Target: 1.25 times one
process.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.reading.files import read_files

LESSON = Path(__file__).parents[2] / "solutions" / "11_pipeline"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2"]
TARGET = 1.25


def launch(rounds: int, kind: str) -> Any:
    """Return the run record of one speed job."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1"}
    environment |= {"MASTER_PORT": "29581", "OMPI_MCA_mpi_yield_when_idle": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    words = ["--rounds", str(rounds), "--schedule", kind]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "speed.out")
        with out.open("w") as sink:
            done = subprocess.run(
                [*MPIRUN, sys.executable, "-u", str(LESSON / "speed.py"), *words],
                cwd=folder, env=environment, stdout=sink, stderr=subprocess.PIPE, text=True,
                timeout=900,
            )  # fmt: skip
        if done.returncode:
            sys.exit(f"speed.py failed:\n{done.stderr[-2000:]}")
        [run] = read_files([out])
        return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--launches", type=int, default=3)
    args = parser.parse_args()
    print(
        "launch  schedule  best m  speedup (median, range)  ceiling  ms: one process | m = 1, 2, …"
    )
    found = {"gpipe": [], "1f1b": []}
    for number in range(1, args.launches + 1):
        for kind, gains in found.items():
            run = launch(args.rounds, kind)
            rounds = run.measured("pipeline_round")
            speedups = sorted(one["value"] for one in run.measured("pipeline_speedup"))
            gains.append(statistics.median(speedups))
            ceiling = statistics.median(2 * one["alone_s"] / one["silent_s"] for one in rounds)
            alone = 1e3 * statistics.median(one["alone_s"] for one in rounds)
            times = [
                1e3 * statistics.median(one["together_s"][m] for one in rounds)
                for m in rounds[0]["together_s"]
            ]
            print(
                f"{number:6}  {kind:8}  {rounds[0]['best']:6}  {gains[-1]:.2f} "
                f"({speedups[0]:.2f} … {speedups[-1]:.2f})      {ceiling:14.2f}  "
                f"{alone:.0f} | {', '.join(f'{time:.0f}' for time in times)}",
                flush=True,
            )
    for kind, gains in found.items():
        median = statistics.median(gains)
        verdict = "reached" if median >= TARGET else "NOT reached"
        print(f"{kind}: {median:.2f} times one process; the target of {TARGET} is {verdict}")


if __name__ == "__main__":
    main()
