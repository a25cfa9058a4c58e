"""Measure the peak memory of training on CIFAR-10 at 128 by 128 pixels, for each input method.

python benchmarks/lessons/data_memory.py --steps 10 --batch 16

All 50,000 images are loaded. All methods avoid a float copy of all resized images, which would need
50,000 x 128 x 128 x 3 x 4 bytes = 9.8 GB. This number is computed, not measured.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

WAYS = {
    "no data": "the net alone, fed one random batch again and again",
    "data only": "the 60,000 images as bytes, no framework",
    "slices": "bytes in tf.data by from_tensor_slices; resized and scaled in the pipeline",
    "indices": "indices in tf.data, bytes looked up by batch; resized and scaled in the pipeline",
    "batches": "bytes; resized and scaled by data.batches",
    "floats": "as slices, but float32 at 32 by 32",
}


def train(way: str, net: str, batch: int, size: int, steps: int) -> dict[str, float]:
    """Train for some steps in this process, and return its peak memory and other results."""
    from lessons.toolkit import data

    few = 1 if way == "no data" else None
    cifar = data.load("cifar10", few, few, as_float=way == "floats")
    loaded = peak_mb()
    result = {"samples": len(cifar.x_train), "after_load_mb": loaded, "peak_mb": loaded}
    if way == "data only":
        return result
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as in every job
    import tensorflow as tf

    model = build(tf, net, size)
    model.compile(tf.keras.optimizers.SGD(0.01), "sparse_categorical_crossentropy")
    feed = pipeline(tf, cifar, way, batch, size)
    begin = time.monotonic()
    model.fit(feed, steps_per_epoch=steps, epochs=1, verbose=0)
    seconds = time.monotonic() - begin
    return result | {
        "peak_mb": peak_mb(),
        "seconds": seconds,
        "images_per_s": steps * batch / seconds,
    }


def build(tf, net: str, size: int):
    if net == "ResNet50V2":
        return tf.keras.applications.ResNet50V2(
            weights=None, input_shape=(size, size, 3), classes=10
        )
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, strides=2, activation="relu", input_shape=(size, size, 3)),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10, activation="softmax"),
        ]
    )


def pipeline(tf, cifar, way: str, batch: int, size: int):
    from lessons.toolkit import data

    if way == "no data":
        images = tf.random.uniform((batch, size, size, 3))
        return tf.data.Dataset.from_tensors((images, tf.zeros(batch, tf.int64))).repeat()
    if way == "batches":
        shapes = (
            tf.TensorSpec((None, size, size, 3), tf.float32),
            tf.TensorSpec((None,), tf.int64),
        )
        return tf.data.Dataset.from_generator(
            lambda: data.batches(cifar.x_train, cifar.y_train, batch, size=size, seed=1),
            output_signature=shapes,
        ).repeat()

    def prepare(images, labels):
        images = tf.image.resize(tf.cast(images, tf.float32), (size, size))
        return (images if way == "floats" else images / 255), labels

    def look_up(chosen):
        images = tf.numpy_function(cifar.x_train.__getitem__, [chosen], tf.uint8)
        return tf.ensure_shape(images, (None, 32, 32, 3)), tf.gather(cifar.y_train, chosen)

    if way == "indices":
        order = tf.data.Dataset.range(len(cifar.x_train)).shuffle(len(cifar.x_train))
        return order.batch(batch).map(look_up).map(prepare).prefetch(2).repeat()
    samples = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
    return samples.shuffle(10_000).batch(batch).map(prepare).prefetch(2).repeat()


def peak_mb() -> float:
    # ru_maxrss is never below the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(way: str, args: argparse.Namespace) -> dict[str, float]:
    """Measure the same in a process of its own, so that the peak memory is only its own."""
    options = [f"--{name}={getattr(args, name)}" for name in ("net", "batch", "size", "steps")]
    command = [sys.executable, __file__, "--here", way, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="ResNet50V2", choices=["ResNet50V2", "small"])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--here", choices=WAYS, help="train in this way in this process")
    args = parser.parse_args()
    if args.here:
        print(json.dumps(train(args.here, args.net, args.batch, args.size, args.steps)))
        return
    print(f"{args.net}, batch {args.batch}, {args.size} by {args.size}, {args.steps} steps")
    for way, meaning in WAYS.items():
        found = measure(way, args)
        rate = f"{found['images_per_s']:7.1f} images/s" if "images_per_s" in found else ""
        print(f"{way:10} peak {found['peak_mb']:6.0f} MB  {rate:18} {meaning}", flush=True)
    whole = found["samples"] * args.size**2 * 3 * 4 / 1e9
    print(f"one float copy of all resized images would be {whole:.1f} GB (computed)")


if __name__ == "__main__":
    main()
