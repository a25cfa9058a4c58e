"""Compare lesson 01's training step with its five matrix products alone.

python benchmarks/lessons/numpy_step.py

Target: at most 1.3 times their time. CPU seconds of one thread are measured alternately, on batches
from 12,800 images of MNIST, loaded as in the program. A step includes taking the batch and the
update. For comparison, the minimum of any step is also shown: the products, gathering the batch,
and updating 50,890 parameters, whose cost does not depend on the batch size.
"""

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # must be set before NumPy is loaded

import numpy as np  # noqa: E402

from lessons.toolkit import data  # noqa: E402

LESSON = Path(__file__).parents[2] / "solutions" / "01_learning"
SAMPLES, TARGET = 12_800, 1.3


def cpu_seconds(work: Callable[[np.ndarray], object], batches: list[np.ndarray]) -> float:
    begin = time.process_time()
    for batch in batches:
        work(batch)
    return (time.process_time() - begin) / len(batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    sys.path.insert(0, str(LESSON))
    train: Any = importlib.import_module("train")
    rng = np.random.default_rng(1)
    mnist = data.load("mnist", train_samples=SAMPLES)
    x_train, y_train = mnist.x_train.reshape(-1, 784), mnist.y_train
    print(f"NumPy {np.__version__}, {os.cpu_count()} cores, {repeats} repeats; µs a step")
    for size in (32, 64, 128, 512):
        params = train.start(rng)
        w1, _, w2, _ = params
        hidden, scores = np.ones((size, 64), np.float32), np.ones((size, 10), np.float32)
        gradients = [np.zeros_like(param) for param in params]

        def step(batch: np.ndarray, params: Any = params) -> None:
            _, cache = train.forward(params, x_train[batch])
            train.update(params, train.backward(cache, y_train[batch]), 0.1)

        def products(at: np.ndarray, h: Any = hidden, s: Any = scores, w: Any = (w1, w2)) -> None:
            x = x_train[at[0] % (SAMPLES - len(at)) :][: len(at)]  # a view, so nothing is gathered
            x @ w[0], h @ w[1], s @ w[1].T, x.T @ h, h.T @ s

        def traffic(at: np.ndarray, params: Any = params, gradients: Any = gradients) -> None:
            x_train[at], y_train[at]
            train.update(params, gradients, 0.1)

        parts = (products, traffic, step)
        seconds: dict[str, list[float]] = {part.__name__: [] for part in parts}
        for _ in range(repeats + 1):
            batches = [b for b in train.minibatches(SAMPLES, size, rng) if len(b) == size]
            for part in parts:
                seconds[part.__name__].append(cpu_seconds(part, batches))
        alone, moved, whole = (np.array(seconds[part.__name__][1:]) for part in parts)
        ratios, least = whole / alone, (alone + moved) / alone
        typical = float(np.median(ratios))
        print(
            f"batch {size:3}: products {1e6 * np.median(alone):5.0f},"
            f" gather and update {1e6 * np.median(moved):4.0f}, step {1e6 * np.median(whole):5.0f}:"
            f" {typical:.2f} times ({ratios.min():.2f} to {ratios.max():.2f};"
            f" products, gather and update alone {np.median(least):.2f}), target {TARGET}:"
            f" {'held' if typical <= TARGET else 'missed'}"
        )


if __name__ == "__main__":
    main()
