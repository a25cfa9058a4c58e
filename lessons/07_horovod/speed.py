"""Measure how much faster ranks are than one, with train.py's Horovod, and the limit.

mpirun -np 2 python speed.py --rounds 12 --steps 4 --batch-size 64
"""

import argparse
import itertools
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from mpi4py import MPI

from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import Record, rounds

import resnet
import train

keras = tf.keras
COMPARED = 3  # number of steps that are compared with steps by hand


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=12, help="of three phases each")
    parser.add_argument("--steps", type=int, default=4, help="of a phase")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=64, help="images a step, on each rank"
    )
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def make_step(model, optimizer, batches):
    """Return a function that trains on the next batch, whatever the optimizer does."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_on(images, labels):
        with tf.GradientTape() as tape:
            value = loss(labels, model(images, training=True))
        optimizer.minimize(value, model.trainable_variables, tape=tape)
        return value

    first = next(batches)
    train_on.get_concrete_function(*first)  # all ranks make the graph at the same time
    following = itertools.chain([first], batches)
    return lambda: train_on(*next(following))


def make_step_by_hand(model, optimizer, batches):
    """Return the same step, with every gradient visibly averaged by MPI."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def gradients(images, labels):  # making a graph takes longer than it saves in a few steps
        with tf.GradientTape() as tape:
            value = loss(labels, model(images, training=True))
        return tape.gradient(value, model.trainable_variables)

    def step():
        means = [np.empty(gradient.shape, np.float32) for gradient in model.trainable_variables]
        for gradient, mean in zip(gradients(*next(batches)), means, strict=True):
            MPI.COMM_WORLD.Allreduce(gradient.numpy(), mean)
            mean /= MPI.COMM_WORLD.size
        optimizer.apply_gradients(zip(means, model.trainable_variables, strict=True))

    return step


def noise(batch_size, seed):
    """Return batches of random images, different on each rank; a step takes as long."""
    random = np.random.default_rng(seed)
    images = random.random((8, batch_size, 32, 32, 3), dtype=np.float32)
    labels = random.integers(0, 10, (8, batch_size))
    with tf.device("GPU:0" if tf.config.get_visible_devices("GPU") else "CPU:0"):
        batches = [(tf.constant(x), tf.constant(y)) for x, y in zip(images, labels, strict=True)]
    while True:
        yield from batches


def trainable(model):
    return [variable.numpy() for variable in model.trainable_variables]


def difference(model, other, start):
    """Return the distance between two networks, relative to how far the second one went."""
    apart = sum(
        ((a - b) ** 2).sum() for a, b in zip(trainable(model), trainable(other), strict=True)
    )
    way = sum(((b - s) ** 2).sum() for b, s in zip(trainable(other), start, strict=True))
    return float(np.sqrt(apart / way)) if way > 0 else 1.0


def main():
    parser = command_line()
    args = parser.parse_args()
    if min(args.rounds, args.steps, args.batch_size, args.width) < 1:
        parser.error("--rounds, --steps, --batch-size and --width are at least 1")
    args.model = "resnet20"

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    train.start_horovod()
    rank, size = hvd.rank(), hvd.size()
    if size < 2 or MPI.COMM_WORLD.size != size:
        found = "MPI sees one" if MPI.COMM_WORLD.size < 2 else "Horovod sees one"
        text = (
            f"speed.py compares ranks, and {found}: start it by mpirun or srun, with at least two."
        )
        leave(rank, text)
    keras.utils.set_random_seed(args.seed + rank)

    ours, other = resnet.resnet(args.width), resnet.resnet(args.width)
    ours_optimizer = train.make_optimizer(args.lr)
    rate = float(ours_optimizer.learning_rate)
    optimizer = keras.optimizers.Adam(rate)
    train.start_alike(ours)
    ours_optimizer.build(ours.trainable_variables)  # otherwise the graph is made twice
    record = Record(
        "07",
        args,
        source="speed",
        framework="tensorflow",
        params=ours.count_params(),
        optimizer="adam",
        rank=rank,
        size=size,
        local_rank=hvd.local_rank(),
        lr=rate,
    )
    other.set_weights(MPI.COMM_WORLD.bcast(ours.get_weights()))
    start = trainable(other)
    # Are all ranks' gradients averaged? Steps of both with the same batches must agree.
    together = make_step(ours, ours_optimizer, noise(args.batch_size, args.seed + rank))
    by_hand = make_step_by_hand(other, optimizer, noise(args.batch_size, args.seed + rank))
    error = 0.0
    for _ in range(COMPARED):
        together(), by_hand()
        error = max(error, *MPI.COMM_WORLD.allgather(difference(ours, other, start)))
    record.measure("update_error", error, "", steps=COMPARED)

    rounds.measure(
        record,
        MPI.COMM_WORLD,
        silent=make_step(other, optimizer, noise(args.batch_size, args.seed + rank)),
        together=together,
        params=lambda: trainable(ours),
        samples=args.batch_size,
        rounds=args.rounds,
        steps=args.steps,
        warm_up=1,
    )
    record.end(params=trainable(ours), param_spread=rounds.spread(MPI.COMM_WORLD, trainable(ours)))


if __name__ == "__main__":
    main()
