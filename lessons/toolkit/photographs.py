"""Lesson 03's network and images, for the programs that train on several nodes.

    batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).batch(256)
    batches = photographs.prepare(tf, batches, size=128)
    model = photographs.network(tf.keras, "ResNet50V2", size=128, ranks=8)

The program passes TensorFlow and Keras as arguments, because it has chosen the version of Keras.
"""

import argparse
from typing import Any

NAMES = ("ResNet50V2", "cnn")


def command_line(about: str, epochs: int, lr: float) -> argparse.ArgumentParser:
    """Return the parser with the options that all of these programs have."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--model", default="ResNet50V2", choices=NAMES, help="the network")
    parser.add_argument("--size", type=int, default=128, help="side of an image, in pixels")
    parser.add_argument(
        "--epochs", type=int, default=epochs, help="passes over the training images"
    )
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=256, help="images per step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=lr, help="learning rate of one rank")
    parser.add_argument("--test-samples", type=int, default=10000, help="number of test images")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    return parser


def network(keras: Any, name: str, size: int, ranks: int = 1) -> Any:
    """Return an untrained network for 10 classes.

    The network is ResNet50V2 as in lesson 03, or `cnn` with two convolutions. In evaluation, batch
    normalisation uses running means, which keep 99 % of their value in each step. An epoch on N
    ranks has only 1/N of the steps, so here one step changes the means as much as N steps would on
    one rank.
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
    """Return this rank's images and labels (every size-th one), and their start, stop and step.

    Every rank gets the same number of images, so that all ranks have equal weight.
    """
    stop = len(y) // size * size
    return x[rank:stop:size], y[rank:stop:size], (rank, stop, size)


def prepare(tf: Any, batches: Any, size: int) -> Any:
    """Return batches with float32 images of `size` by `size` pixels.

    Images can be bytes, or numbers from 0 to 1. Other parts of a batch, such as labels and weights,
    are unchanged. The next batch is prepared while the current one is in use.
    """

    def pixels(images: Any, *rest: Any) -> Any:
        numbers = tf.image.convert_image_dtype(images, tf.float32)
        return (tf.image.resize(numbers, (size, size)), *rest)

    return batches.map(pixels, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
