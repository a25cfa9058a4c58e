"""Peak memory of a real process that trains on CIFAR-10 at 128 by 128, for each way to feed it.

python benchmarks/data_memory.py --steps 10 --batch 32

All 50,000 images are loaded. The way that this avoids is one float copy of all resized images:
50,000 x 128 x 128 x 3 x 4 bytes = 9.8 GB, which is computed here and not tried.
"""

import argparse
import ast
import os
import resource
import subprocess
import sys
import time

WAYS = {
    "data only": "the 60,000 images as bytes, no framework",
    "tf.data": "bytes; resized and scaled in the tf.data pipeline, as lesson 03 does it",
    "batches": "bytes; resized and scaled by data.batches",
    "floats": "float32 at 32 by 32; resized in the tf.data pipeline",
}


def train(way: str, net: str, batch: int, size: int, steps: int) -> dict[str, float]:
    """Train for some steps in this process; what it took."""
    from lessons.toolkit import data

    cifar = data.load("cifar10", as_float=way == "floats")
    loaded = peak_mb()
    result = {"samples": len(cifar.x_train), "after_load_mb": loaded, "peak_mb": loaded}
    if way == "data only":
        return result
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
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
        return (images / 255 if way == "tf.data" else images), labels

    samples = tf.data.Dataset.from_tensor_slices((cifar.x_train, cifar.y_train))
    return samples.shuffle(10_000).batch(batch).map(prepare).prefetch(2).repeat()


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way: str, net: str, batch: int, size: int, steps: int) -> dict[str, float]:
    """The same in a process of its own, for its memory is what counts."""
    program = (
        "import sys; from benchmarks.data_memory import train; "
        f"print(train({way!r}, {net!r}, {batch}, {size}, {steps}))"
    )
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    return ast.literal_eval(done.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="ResNet50V2", choices=["ResNet50V2", "small"])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    print(f"{args.net}, batch {args.batch}, {args.size} by {args.size}, {args.steps} steps")
    for way, meaning in WAYS.items():
        found = measure(way, args.net, args.batch, args.size, args.steps)
        rate = f"{found['images_per_s']:7.1f} images/s" if "images_per_s" in found else ""
        print(f"{way:10} peak {found['peak_mb']:6.0f} MB  {rate:18} {meaning}", flush=True)
    whole = found["samples"] * args.size**2 * 3 * 4 / 1e9
    print(f"one float copy of all resized images would be {whole:.1f} GB (computed)")


if __name__ == "__main__":
    main()
