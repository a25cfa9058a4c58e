"""Measure the numbers of lessons 01, 06 and 09 under "What you should see", over several seeds.

python benchmarks/lessons/what_you_see.py 01 06 09 --seeds 5

These are not speeds, but ranges of accuracies and other results of the solutions' own programs on
one core (06: on two ranks). The numbers that the lessons state were measured with this script.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from autograder.reading.files import read_files
from autograder.records import Run

SOLUTIONS = Path(__file__).parents[2] / "solutions"
FEW = ["--train-samples", "12800"]


def runs_of(program: str, *arguments: object, ranks: int = 0) -> list[Run]:
    """Run a solution's program in its own folder, and return the runs in its output."""
    launcher = f"timeout 600 mpirun --allow-run-as-root --oversubscribe -np {ranks}".split()
    command = [*(launcher if ranks else []), sys.executable, "-u", str(SOLUTIONS / program)]
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "job.out")
        with output.open("w") as sink:
            words = [*command, *map(str, arguments)]
            subprocess.run(words, cwd=folder, env=environ, stdout=sink, check=True)
        return list(read_files([output]))


def told(values: list[float]) -> str:
    return f"{min(values):.4f} to {max(values):.4f} ({len(values)} seeds)"


def accuracy(run: Run) -> float:
    assert run.test_accuracy is not None
    return run.test_accuracy.value


def learning(seeds: list[int]) -> None:
    for sizes in ([*FEW, "--epochs", 3], ["--epochs", 5]):
        runs = [r for s in seeds for r in runs_of("01_learning/train.py", *sizes, "--seed", s)]
        print(f"01 {sizes}: test accuracy {told([accuracy(run) for run in runs])}")
        first = [run.epochs[0].train_loss.value for run in runs]  # type: ignore[union-attr]
        print(f"   mean loss of the first epoch {told(first)}")


def allreduce(seeds: list[int]) -> None:
    for ranks in (1, 2, 4):
        options = [*FEW, "--epochs", 3]
        runs = [
            run
            for seed in seeds
            for run in runs_of("06_allreduce/train.py", *options, "--seed", seed, ranks=ranks)
        ]
        spread = max(run.end["param_spread"] for run in runs)
        print(f"06 {ranks} ranks: test accuracy {told([accuracy(run) for run in runs])}", end="; ")
        print(f"largest param_spread {spread}")


def rates(seeds: list[int]) -> None:
    chosen = ["--seeds", *seeds]
    warm = ["--rules", "linear", "--decay", "cosine", *chosen]
    lars = ["--lars", 0.02, "--momentum", 0.9, "--lr", 0.05]
    for name, options in {
        "12,800": [*FEW, "--workers", 1, 4, 8, 16, 64, *chosen],
        "12,800, 1 epoch of warm-up, cosine": [*FEW, "--workers", 16, 64, "--warmup", 1, *warm],
        "12,800, 2 epochs of warm-up, cosine": [*FEW, "--workers", 16, 64, "--warmup", 2, *warm],
        "12,800, LARS": [*FEW, "--workers", 64, "--warmup", 1, *lars, *warm],
        "12,800, mlp16": [*FEW, "--model", "mlp16", "--workers", 1, 4, 8, 16, *chosen],
        "60,000": ["--workers", 1, 8, 16, 64, *chosen],
        "60,000, 1 epoch of warm-up, cosine": ["--workers", 16, 64, "--warmup", 1, *warm],
        "60,000, 2 epochs of warm-up, cosine": ["--workers", 16, 64, "--warmup", 2, *warm],
    }.items():
        table = defaultdict(list)
        for run in runs_of("09_learning_rate/train.py", *options):
            table[run.header["workers"], run.header["rule"]].append(accuracy(run))
        for (workers, rule), values in table.items():
            print(f"09 {name}: N {workers:2}, {rule:6}: {told(values)}, mean {np.mean(values):.4f}")
    equal_loss([*FEW, "--epochs", 20, *chosen])


def equal_loss(options: list[object], level: float = 0.15) -> None:
    found = defaultdict(list)
    sizes = ["--workers", 1, 16, 64, "--rules", "sqrt", "--until", level]
    for run in runs_of("09_learning_rate/train.py", *sizes, *options):
        last = [m["value"] for m in run.measures if m["name"] == "train_loss"][-1]
        found[run.header["workers"]].append((last, accuracy(run), len(run.epochs)))
    for workers, runs in found.items():
        losses, accuracies, epochs = (list(column) for column in zip(*runs, strict=True))
        print(f"09 until {level}: N {workers:2}: training loss {told(losses)}", end=", ")
        print(f"after {min(epochs)} to {max(epochs)} epochs, test accuracy {told(accuracies)}")


def main() -> None:
    lessons = {"01": learning, "06": allreduce, "09": rates}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", default=list(lessons), metavar="01|06|09")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}")
    for lesson in args.lessons:
        lessons[lesson](list(range(1, args.seeds + 1)))


if __name__ == "__main__":
    main()
