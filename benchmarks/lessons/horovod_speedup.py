"""Measure the speedup of two Horovod ranks on lesson 07's ResNet, and the machine's ceiling.

python benchmarks/lessons/horovod_speedup.py [--rounds 5] [--steps 30]

Two cores share memory, caches and clock, so two processes that do not communicate are not twice as
fast as one either. Their speed is the ceiling of this machine. Each round runs the following in
succession: one process, two independent processes, and two Horovod ranks over MPI and over Gloo.
Every process has one core, its own half of the images and batches of 64. Target: Horovod reaches
0.85 of the ceiling.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

LESSON = Path(__file__).parents[2] / "solutions" / "07_horovod"
BATCH = 64
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
GLOO = ["horovodrun", "--gloo", "-H", "localhost:2", "-np"]
# name -> launcher, processes, whether gradients are averaged, more environment
WAYS: dict[str, tuple[list[str], int, bool, dict[str, str]]] = {
    "one process": (MPIRUN, 1, False, {}),
    "two independent": (MPIRUN, 2, False, {}),
    "Horovod, MPI": (MPIRUN, 2, True, {}),
    "Horovod, Gloo": (GLOO, 2, True, {}),
    "Horovod, Gloo, cycle 5 ms": (GLOO, 2, True, {"HOROVOD_CYCLE_TIME": "5"}),
}


def run_worker(averaging: bool, steps: int, warm_up: int = 5) -> None:
    """Run one process: print its images per second over the steps. All processes start together."""
    sys.path.insert(0, str(LESSON))
    from mpi4py import MPI

    from lessons.toolkit.clock.keras_work import KerasWork

    import resnet
    import train

    rank, barrier = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.Barrier
    optimizer = train.keras.optimizers.Adam(0.001)
    if averaging:
        train.start_horovod()
        rank = train.hvd.rank()
        barrier = partial(train.hvd.allreduce, 0.0, name="ready")
        optimizer = train.make_optimizer(0.001)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    model = resnet.resnet()
    work = KerasWork(model, optimizer, argparse.Namespace(batch_size=BATCH))
    work.train(rank, warm_up)
    barrier()
    started = time.perf_counter()
    work.train(rank, steps)
    rate = BATCH * steps / (time.perf_counter() - started)
    print(f"\nRATE {rate} {model.count_params()}", flush=True)


def rate(name: str, steps: int) -> tuple[float, int]:
    """Return the images per second of all processes together, and the network's parameters."""
    launcher, count, averaging, more = WAYS[name]
    one = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    environment = os.environ | more | one | {"OMPI_MCA_mpi_yield_when_idle": "1"}
    environment |= {"TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["TF_USE_LEGACY_KERAS"] = "1"
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    worker = [sys.executable, "-u", __file__, "--worker", "--steps", str(steps)]
    command = [*launcher, str(count), *worker, *(["--averaging"] if averaging else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    # horovodrun prefixes each line with the rank and a colon
    found = [line.split("RATE ")[1].split() for line in done.stdout.splitlines() if "RATE " in line]
    if done.returncode or len(found) != count:
        sys.exit(f"{name} failed:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return sum(float(words[0]) for words in found), int(found[0][1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--averaging", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        run_worker(args.averaging, args.steps)
        return
    rounds = []
    for number in range(1, args.rounds + 1):
        found = {name: rate(name, args.steps) for name in WAYS}
        print(f"round {number} of {args.rounds}", file=sys.stderr, flush=True)
        rounds.append({name: images_a_second for name, (images_a_second, _) in found.items()})
    parameters = found["one process"][1]
    print(
        f"horovod_speedup: ResNet of {parameters:,} parameters, batch {BATCH} a process,"
        f" {args.steps} steps, {args.rounds} rounds, {os.cpu_count()} cores,"
        f" load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'':27} images/s   over one process (from … to)   of the ceiling (from … to)")
    for name in WAYS:
        over = sorted(rates[name] / rates["one process"] for rates in rounds)
        ceiling = sorted(rates[name] / rates["two independent"] for rates in rounds)
        print(
            f"{name:27} {statistics.median(rates[name] for rates in rounds):8.0f}"
            f"   {statistics.median(over):16.2f} ({over[0]:.2f} … {over[-1]:.2f})"
            f"   {statistics.median(ceiling):14.2f} ({ceiling[0]:.2f} … {ceiling[-1]:.2f})"
        )


if __name__ == "__main__":
    main()
