"""Train a small network on MNIST with Keras and MultiWorkerMirroredStrategy, on many devices.

mpirun -np 2 python train_multiworker.py --epochs 4 --batch-size 32
"""

import math
import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 3 refuses this strategy

import numpy as np
import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.record import Run

from tf_cluster import in_time, join_cluster, take_gpu, this_rank

keras = tf.keras
tf.get_logger().setLevel("ERROR")


def build_model(name):
    """Return mlp512 (one hidden layer, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
    if name == "cnn":
        return keras.Sequential(
            [
                keras.layers.Reshape((28, 28, 1), input_shape=(28, 28)),
                keras.layers.Conv2D(32, 3, activation="relu"),
                keras.layers.Conv2D(64, 3, activation="relu"),
                keras.layers.MaxPooling2D(),
                keras.layers.Flatten(),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(10, activation="softmax"),
            ]
        )
    return keras.Sequential(
        [
            keras.layers.Flatten(input_shape=(28, 28)),
            keras.layers.Dense(512, activation="relu"),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )


def make_strategy(config, gpu, seconds):
    """Return the strategy: each worker has a GPU or its cores; NCCL or a gRPC ring adds up."""
    way = tf.distribute.experimental.CommunicationImplementation
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=way.RING if gpu is None else way.NCCL
    )
    with in_time(config, seconds):
        return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def my_share(samples, seed, rank, size):
    """Return this worker's images in an epoch: all shuffle equally, each takes every size-th."""
    order = np.random.default_rng(seed).permutation(samples)
    return order[: samples // size * size][rank::size]


def my_batches(x, y, shares, batch):
    """Return this worker's batches of all epochs, which are not sharded again.

    shares: the numbers of this worker's images, with a row for each epoch.
    """
    x, y = tf.constant(x), tf.constant(y)
    epochs = tf.data.Dataset.from_tensor_slices(shares)
    batches = epochs.flat_map(lambda share: tf.data.Dataset.from_tensor_slices(share).batch(batch))
    return batches.map(lambda numbers: (tf.gather(x, numbers), tf.gather(y, numbers)))


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--wait", type=float, default=60, help="seconds for all workers to come")
    return parser


def main():
    args = command_line().parse_args()

    rank, local_rank, size = this_rank()
    kinds = ["worker"] * size
    config = join_cluster(kinds)
    strategy = make_strategy(config, take_gpu(kinds), args.wait)
    keras.utils.set_random_seed(args.seed)
    mnist = data.load("mnist", args.train_samples)

    with strategy.scope():
        model = build_model(args.model)
        model.compile(
            optimizer=keras.optimizers.Adam(args.lr, jit_compile=False),  # as on CPUs: no XLA
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )

    seeds = range(args.seed, args.seed + args.epochs)
    shares = [my_share(args.train_samples, seed, rank, size) for seed in seeds]
    batches = my_batches(mnist.x_train, mnist.y_train, shares, args.batch_size)
    run = Run("16", args, model, "multiworker", rank=rank, size=size, local_rank=local_rank)
    model.fit(
        strategy.distribute_datasets_from_function(lambda _: batches),
        steps_per_epoch=math.ceil(len(shares[0]) / args.batch_size),
        epochs=args.epochs,
        verbose=2 if rank == 0 else 0,
        callbacks=[run.keras()],
    )
    outputs = np.concatenate([model(part) for part in np.split(mnist.x_test, 10)])
    loss, accuracy = data.score(outputs, mnist.y_test)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    run.end(test_loss=loss, test_accuracy=accuracy)


if __name__ == "__main__":
    main()
