"""Measure the speedup of two DDP ranks on lesson 10's ResNet, and the most this machine allows.

python benchmarks/lessons/ddp_speedup.py [--rounds 5] [--steps 30]

As in horovod_speedup.py, each round runs the following in succession: one process, two independent
processes, and two ranks of DDP over Gloo. DDP runs with one bucket (no overlap), with PyTorch's own
bucket size, and with small buckets. Every process has one core, its own images and batches of 64.
Target: DDP reaches 0.85 of the ceiling, which is the speed of the independent processes.
"""

import argparse
import datetime
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

LESSON = Path(__file__).parents[2] / "solutions" / "10_native"
BATCH = 64
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
# name -> processes, bucket size in MB (None: gradients are not averaged)
WAYS: dict[str, tuple[int, float | None]] = {
    "one process": (1, None),
    "two independent": (2, None),
    "DDP, one bucket": (2, 100.0),
    "DDP, buckets of 25 MB": (2, 25.0),
    "DDP, buckets of 0.25 MB": (2, 0.25),
}


def run_worker(bucket_mb: float | None, steps: int, warm_up: int = 5) -> None:
    """Run one process: print its images per second over the steps. All processes start together."""
    sys.path.insert(0, str(LESSON))
    import torch
    from mpi4py import MPI

    from lessons.toolkit.clock.torch_work import TorchWork

    import resnet
    import train

    rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    torch.manual_seed(rank)
    network = model = resnet.resnet()
    if bucket_mb is not None:
        device = train.start_ranks(rank, size, rank, datetime.timedelta(minutes=2))
        model = train.distribute(network, device, bucket_mb)
    work = TorchWork(network, model, argparse.Namespace(batch_size=BATCH, lr=0.001))
    work.train(rank, warm_up)
    MPI.COMM_WORLD.Barrier()
    started = time.perf_counter()
    work.train(rank, steps)
    rate = BATCH * steps / (time.perf_counter() - started)
    print(f"\nRATE {rate} {work.size}", flush=True)


def rate(name: str, steps: int, port: int) -> tuple[float, int]:
    """Return the images per second of all processes together, and the network's parameters."""
    count, bucket_mb = WAYS[name]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    worker = [sys.executable, "-u", __file__, "--worker", "--steps", str(steps)]
    bucket = [] if bucket_mb is None else ["--bucket-mb", str(bucket_mb)]
    command = [*MPIRUN, str(count), *worker, *bucket]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    found = [line.split("RATE ")[1].split() for line in done.stdout.splitlines() if "RATE " in line]
    if done.returncode or len(found) != count:
        sys.exit(f"{name} failed:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return sum(float(words[0]) for words in found), int(found[0][1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bucket-mb", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        run_worker(args.bucket_mb, args.steps)
        return
    port, rounds, parameters = 21000 + os.getpid() % 9000, [], 0
    for number in range(1, args.rounds + 1):
        rates = {}
        for place, name in enumerate(WAYS):
            rates[name], parameters = rate(name, args.steps, port + place)
        print(f"round {number} of {args.rounds}", file=sys.stderr, flush=True)
        rounds.append(rates)
    print(
        f"ddp_speedup: ResNet of {parameters:,} parameters, batch {BATCH} a process,"
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
