"""What two Horovod ranks gain on a CIFAR ResNet, beside what this machine could give at most.

python benchmarks/horovod_speedup.py [--rounds 5] [--steps 30]

Two cores share memory, caches and clock, so two processes that never speak to each other do not do
twice the work of one either: their rate is the machine's own ceiling. Each round measures one
process, two independent ones, and two Horovod ranks over MPI and over Gloo, right after one
another; every process has one core, its own half of the images and batches of 64. Target: Horovod
reaches 0.85 of the ceiling.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
GLOO = ["horovodrun", "--gloo", "-H", "localhost:2", "-np"]
# name -> launcher, processes, do they average their gradients?, more environment
WAYS: dict[str, tuple[list[str], int, bool, dict[str, str]]] = {
    "one process": (MPIRUN, 1, False, {}),
    "two independent": (MPIRUN, 2, False, {}),
    "Horovod, MPI": (MPIRUN, 2, True, {}),
    "Horovod, Gloo": (GLOO, 2, True, {}),
    "Horovod, Gloo, cycle 5 ms": (GLOO, 2, True, {"HOROVOD_CYCLE_TIME": "5"}),
}


def resnet():
    """20 layers for 32 x 32 images: three stages of three blocks with 16, 32, 64 channels."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            stride = outputs // inputs
            self.path = nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
                nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
                nn.BatchNorm2d(outputs),
            )
            self.shortcut = nn.Identity()
            if stride > 1:
                self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

        def forward(self, x):
            return torch.relu(self.path(x) + self.shortcut(x))

    channels = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
    pairs = itertools.pairwise(channels)
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        *(Block(inputs, outputs) for inputs, outputs in pairs),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


def save_images(folder: str, samples: int = 4096) -> tuple[str, bool]:
    """A file that the processes read, and whether the images are a stand-in."""
    from lessons.toolkit import data

    cifar = data.load("cifar10", samples, 1)
    np.savez(f"{folder}/images.npz", x=cifar.x_train, y=cifar.y_train)
    return f"{folder}/images.npz", cifar.facts["synthetic"]


def work(images: str, averaging: bool, steps: int, warm_up: int = 5) -> None:
    """One process: print its images a second over the steps, all processes beginning together."""
    import torch

    torch.set_num_threads(1)
    if averaging:
        import horovod.torch as hvd

        hvd.init()
        rank, barrier = hvd.rank(), hvd.barrier
    else:
        from mpi4py import MPI

        rank, barrier = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.Barrier
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    with np.load(images) as arrays:
        x = torch.tensor(arrays["x"][rank::2]).permute(0, 3, 1, 2).contiguous()
        y = torch.tensor(arrays["y"][rank::2], dtype=torch.long)
    torch.manual_seed(1)
    model = resnet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if averaging:
        optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
    batches = [b for _ in range(99) for b in torch.randperm(len(x)).split(64)][: warm_up + steps]
    for number, batch in enumerate(batches):
        if number == warm_up:
            barrier()
            started = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
        optimizer.step()
    rate = 64 * steps / (time.perf_counter() - started)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"\nRATE {rate} {parameters}", flush=True)


def rate(name: str, images: str, steps: int) -> tuple[float, int]:
    """Images a second of all processes together, and the network's parameters."""
    launcher, count, averaging, more = WAYS[name]
    environment = os.environ | more | {"OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    worker = [sys.executable, "-u", __file__, "--worker", images, "--steps", str(steps)]
    command = [*launcher, str(count), *worker, *(["--averaging"] if averaging else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    # horovodrun puts a rank and a colon in front of each line
    found = [line.split("RATE ")[1].split() for line in done.stdout.splitlines() if "RATE " in line]
    if done.returncode or len(found) != count:
        sys.exit(f"{name} failed:\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return sum(float(words[0]) for words in found), int(found[0][1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--averaging", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.worker, args.averaging, args.steps)
        return
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        images, synthetic = save_images(folder)
        for number in range(1, args.rounds + 1):
            found = {name: rate(name, images, args.steps) for name in WAYS}
            print(f"round {number} of {args.rounds}", file=sys.stderr, flush=True)
            rounds.append({name: images_a_second for name, (images_a_second, _) in found.items()})
    parameters = found["one process"][1]
    print(
        f"horovod_speedup: ResNet of {parameters:,} parameters, CIFAR-10"
        f"{' (a stand-in!)' if synthetic else ''}, batch 64 a process,"
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
