"""Compare lesson 06's ring, written in NumPy, with MPI's own allreduce.

python benchmarks/lessons/student_ring.py

Target: at least half of the library's bandwidth for 10 million floats on 2 ranks. Both run
alternately in the same program, and the time of the slowest rank counts. The bandwidth is the
array's bytes per second.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

LESSON = Path(__file__).parents[2] / "solutions" / "06_allreduce"
TARGET = 0.5


def on_a_rank(floats: int, repeats: int) -> None:
    import numpy as np
    from mpi4py import MPI

    sys.path.insert(0, str(LESSON))
    from collectives import ring_allreduce

    comm = MPI.COMM_WORLD
    values = np.zeros(floats, np.float32)
    ways = {
        "ring": lambda: ring_allreduce(comm, values),
        "library": lambda: comm.Allreduce(MPI.IN_PLACE, values),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, work in ways.items():
            comm.Barrier()
            begin = time.perf_counter()
            work()
            seconds[name].append(comm.allreduce(time.perf_counter() - begin, MPI.MAX))
    if comm.Get_rank() == 0:  # without the first one, which sets up buffers and connections
        print(json.dumps({name: times[1:] for name, times in seconds.items()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floats", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rank:
        on_a_rank(args.floats, args.repeats)
        return
    command = f"timeout 300 mpirun --allow-run-as-root --oversubscribe -np {args.ranks}".split()
    own = [sys.executable, __file__, "--rank", "--floats", args.floats, "--repeats", args.repeats]
    words = [*command, *map(str, own)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    seconds = json.loads(done.stdout.splitlines()[-1])
    load = os.getloadavg()[0]
    print(f"{args.floats:,} floats, {args.ranks} ranks, {os.cpu_count()} cores, load {load:.1f}")
    for name, times in seconds.items():
        speed = 4 * args.floats / statistics.median(times) / 1e9
        spread = f"{1e3 * min(times):.1f} to {1e3 * max(times):.1f}"
        print(f"  {name:8} {1e3 * statistics.median(times):6.1f} ms ({spread}), {speed:.2f} GB/s")
    ratios = [b / a for a, b in zip(seconds["ring"], seconds["library"], strict=True)]
    typical = statistics.median(ratios)
    print(
        f"  the ring has {typical:.2f} of the library's bandwidth ({min(ratios):.2f} to"
        f" {max(ratios):.2f}), target {TARGET}: {'held' if typical >= TARGET else 'missed'}"
    )


if __name__ == "__main__":
    main()
