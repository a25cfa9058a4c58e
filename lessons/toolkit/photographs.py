"""Lesson 03's network and pictures, for the programs that train them on several nodes.

    batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).batch(256)
    batches = photographs.prepare(tf, batches, size=128)
    model = photographs.network(tf.keras, "ResNet50V2", size=128, ranks=8)

TensorFlow and Keras are handed in: which Keras it is, the program has decided.
"""

import argparse
from typing import Any

NAMES = ("ResNet50V2", "cnn")


def command_line(about: str, epochs: int, lr: float) -> argparse.ArgumentParser:
    """What every program that trains them can be asked for."""
    parser = argparse.ArgumentParser(
        description=about.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="ResNet50V2", choices=NAMES, help="the network")
    parser.add_argument("--size", type=int, default=128, help="pixels of an image's side")
    parser.add_argument(
        "--epochs", type=int, default=epochs, help="passes over the training images"
    )
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=256, help="images a step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=lr, help="learning rate of one rank")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def network(keras: Any, name: str, size: int, ranks: int = 1) -> Any:
    """ResNet50V2 for 10 classes, untrained, as in lesson 03; or cnn, its two convolutions.

    Batch normalisation tests with running means, which keep 99 % of themselves in each step. On N
    ranks an epoch has N times fewer steps, so here they forget as much in one as in N steps.
    """
    shape = (size, size, 3)
    if name == "cnn":
        return keras.Sequential(
            [
                keras.layers.Conv2D(32, 3, activation="relu", input_shape=shape),
                keras.layers.Conv2D(64, 3, activation="relu"),
                keras.layers.MaxPooling2D(),
                keras.layers.Flatten(),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(10, activation="softmax"),
            ]
        )
    model = getattr(keras.applications, name)(weights=None, input_shape=shape, classes=10)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = layer.momentum**ranks
    return model


def every_nth(x: Any, y: Any, rank: int, size: int) -> tuple[Any, Any, tuple[int, int, int]]:
    """This rank's images and labels, each size-th, and which they are as start, stop and step. As
    many for each rank, so that all count alike."""
    stop = len(y) // size * size
    return x[rank:stop:size], y[rank:stop:size], (rank, stop, size)


def prepare(tf: Any, batches: Any, size: int) -> Any:
    """Batches with their images, bytes or numbers in 0…1, made float32 of `size` by `size`; what
    stands behind them, labels and weights, stays. While one batch is used the next is made."""

    def pixels(images: Any, *rest: Any) -> Any:
        numbers = tf.image.convert_image_dtype(images, tf.float32)
        return (tf.image.resize(numbers, (size, size)), *rest)

    return batches.map(pixels, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
