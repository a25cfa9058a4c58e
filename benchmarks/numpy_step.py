"""Lesson 01's training step beside its five matrix products alone: python benchmarks/numpy_step.py

Target: at most 1.3 times their time. CPU seconds of one thread, the two by turns, on batches drawn
from 12,800 images; the step is from before the batch is taken to after the update. At the lesson's
batch of 32 half of the rest is the update, which touches 50,890 parameters whatever the batch; the
larger batches show that.
"""

import argparse
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before NumPy is loaded

import numpy as np  # noqa: E402

LESSON = Path(__file__).parents[1] / "solutions" / "01_learning"
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
    x_train = rng.random((SAMPLES, 784), dtype=np.float32)
    y_train = rng.integers(0, 10, SAMPLES)
    print(f"NumPy {np.__version__}, {os.cpu_count()} cores, {repeats} repeats; µs a step")
    for size in (32, 64, 128):
        params = train.start(rng)
        w1, _, w2, _ = params
        hidden, scores = np.ones((size, 64), np.float32), np.ones((size, 10), np.float32)

        def step(batch: np.ndarray, params: Any = params) -> None:
            _, cache = train.forward(params, x_train[batch])
            train.update(params, train.backward(cache, y_train[batch]), 0.1)

        def products(at: np.ndarray, h: Any = hidden, s: Any = scores, w: Any = (w1, w2)) -> None:
            x = x_train[at[0] % (SAMPLES - len(at)) :][: len(at)]  # in place: nothing is gathered
            x @ w[0], h @ w[1], s @ w[1].T, x.T @ h, h.T @ s

        alone, whole = [], []
        for _ in range(repeats + 1):
            batches = [b for b in train.minibatches(SAMPLES, size, rng) if len(b) == size]
            alone.append(cpu_seconds(products, batches))
            whole.append(cpu_seconds(step, batches))
        ratios = [a / b for a, b in zip(whole[1:], alone[1:], strict=True)]
        typical = statistics.median(ratios)
        print(
            f"batch {size:3}: products {1e6 * statistics.median(alone[1:]):4.0f},"
            f" step {1e6 * statistics.median(whole[1:]):4.0f}: {typical:.2f} times"
            f" ({min(ratios):.2f} to {max(ratios):.2f}), target {TARGET}:"
            f" {'held' if typical <= TARGET else 'missed'}"
        )


if __name__ == "__main__":
    main()
