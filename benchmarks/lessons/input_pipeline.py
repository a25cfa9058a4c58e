"""Compare the 128 by 128 input pipeline with the network that it feeds, separately, on one core.

python benchmarks/lessons/input_pipeline.py

Target: lesson 04's pipeline (packs of the real CIFAR-10, decode, shuffle, resize, prefetch)
delivers at least 5 times the images per second that ResNet50V2 consumes in training. The result is
the median of paired runs: an epoch of the pipeline, then some steps of the network on prepared
batches.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

SOLUTION = Path(__file__).parents[2] / "solutions" / "04_feeding"
TARGET = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train-samples", type=int, default=3200)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2, help="of the network, in each pair")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--model", default="ResNet50V2")
    args = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ |= {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as in every job
    os.environ |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    sys.path.insert(0, str(SOLUTION))
    import tensorflow as tf

    from lessons.toolkit import data

    import sources
    import train

    vars(args).update(workers=1, buffer=1024, cache=False, prefetch=True)
    cifar = data.load("cifar10", args.train_samples, 1, as_float=False, stand_in=False)
    model = train.build_model(args.model, args.size)
    model.compile(tf.keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy")
    with tempfile.TemporaryDirectory() as folder:
        pieces = sources.pieces_of("packs", cifar, folder, seed=1)
        batches = train.stages(pieces, sources.decode, args)
        ready = [(images, marks[:, 0]) for images, marks in batches.take(args.steps + 1)]
        model.train_on_batch(*ready[0])  # the first step also compiles the program
        pairs = []
        for _ in range(args.pairs):
            start = time.perf_counter()
            delivered = sum(len(images) for images, _ in batches)
            between = time.perf_counter()
            for images, labels in ready[1:]:
                model.train_on_batch(images, labels)
            end = time.perf_counter()
            assert delivered == args.train_samples
            consumed = args.steps * args.batch_size
            pairs.append((delivered / (between - start), consumed / (end - between)))
    ratios = sorted(pipeline / network for pipeline, network in pairs)
    middle = statistics.median(ratios)
    pipeline, network = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    print(f"{platform.processor() or platform.machine()}, one core, TensorFlow {tf.__version__}")
    print(
        f"{args.model} at {args.size} px, median of {args.pairs} pairs, packs in the system's cache"
    )
    print(
        f"pipeline {pipeline:,.0f}, network {network:,.1f} images/s; "
        f"ratio {middle:.0f} [{ratios[0]:.0f}, {ratios[-1]:.0f}], "
        f"target {TARGET:g}: {'reached' if middle >= TARGET else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
