"""Train a small network on MNIST with Keras and MultiWorkerMirroredStrategy, on many devices.

mpirun -np 2 python train_multiworker.py --epochs 4 --batch-size 32
"""

import argparse
import math
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 3 refuses this strategy

import numpy as np
import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.record import Record, param_hash

from tf_cluster import in_time, join_cluster, take_gpu, this_rank

keras = tf.keras
tf.get_logger().setLevel("ERROR")


def build_model(name):
    """Return mlp512 (784-512-10, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
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


def my_batches(images, numbers, batch):
    """Return batches of images and their numbers in the data set, which are not sharded again."""
    batches = tf.data.Dataset.from_tensor_slices(numbers).batch(batch)
    return batches.map(lambda some: (tf.gather(images, some), some))


def every_rank(strategy, row):
    """Return the rows of all workers, gathered by the strategy's own collective."""
    mine = strategy.experimental_distribute_values_from_function(lambda _: tf.constant(row))
    return strategy.gather(mine, axis=0).numpy()


def all_numbers(record, strategy):
    """Return a callback that records what all workers have read, after each epoch."""

    def bring_together(*_):
        mine = np.concatenate(record.numbers)
        record.numbers[:] = [every_rank(strategy, mine[None]).reshape(-1)]

    return keras.callbacks.LambdaCallback(on_epoch_end=bring_together)


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each worker"
    )
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--wait", type=float, default=60, help="seconds for all workers to come")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    rank, local_rank, size = this_rank()
    kinds = ["worker"] * size
    config = join_cluster(kinds)
    strategy = make_strategy(config, take_gpu(kinds), args.wait)
    keras.utils.set_random_seed(args.seed)
    mnist = data.load("mnist", train_samples=args.train_samples)

    with strategy.scope():
        model = build_model(args.model)
        model.compile(
            optimizer=keras.optimizers.Adam(args.lr, jit_compile=False),  # as on CPUs: no XLA
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )

    share = my_share(args.train_samples, args.seed, rank, size)
    record = Record(
        "16",
        args,
        source="multiworker",
        params=model.count_params(),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        shard=share,
        labels=mnist.y_train[share],
        built=param_hash(model.trainable_variables),
        workers=strategy.num_replicas_in_sync,
    )
    heard = every_rank(strategy, np.array([[rank]]))
    record.measure("ranks_heard", len(np.unique(heard)), "ranks")
    images = tf.constant(mnist.x_train)
    for epoch in range(args.epochs):
        share = my_share(args.train_samples, args.seed + epoch, rank, size)
        batches = my_batches(images, share, args.batch_size)
        batches = record.labelled(batches, mnist.x_train, mnist.y_train)
        model.fit(
            strategy.distribute_datasets_from_function(lambda _, batches=batches: batches),
            steps_per_epoch=math.ceil(len(share) / args.batch_size),
            initial_epoch=epoch,
            epochs=epoch + 1,
            verbose=2 if rank == 0 else 0,
            callbacks=[
                all_numbers(record, strategy),
                record.keras_callback(lambda row: every_rank(strategy, row)),
            ],
        )
    outputs = np.concatenate([model(part) for part in np.split(mnist.x_test, 10)])
    loss, accuracy = data.score(outputs, mnist.y_test)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )


if __name__ == "__main__":
    main()
