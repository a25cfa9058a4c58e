"""Train lesson 01's network on several ranks: each computes its share of every batch.

mpirun -np 2 python train.py --epochs 3 --batch-size 32
"""

import math
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from pathlib import Path

import numpy as np

from lessons.toolkit import data
from lessons.toolkit.record import Run

import ml_comm
from network import backward, cross_entropy, forward, minibatches, start


def update(params, gradients, lr):
    """Make one step downhill: move every parameter against its gradient, in place."""
    for param, step in zip(params, gradients, strict=True):
        param -= lr * step


def steps(epochs, nranks, n, batch):
    """Return the total updates if `nranks` share `epochs` epochs and each takes `batch` samples."""
    raise NotImplementedError("Exercise 6.4: the number of updates in all")


def train(mc, args, mnist):
    """Train. mc has the five calls."""
    x_train = mnist.x_train.reshape(-1, 784)
    y_train = mnist.y_train
    totsize = sum(param.size for param in start(np.random.default_rng()))
    raise NotImplementedError("Exercise 6.4: first of all, init with this totsize")
    rank = mc.get_rank()
    size = mc.get_nranks()
    max_steps = steps(args.epochs, size, len(x_train), args.batch_size / size)
    params = start(np.random.default_rng(args.seed + rank))  # different on each rank
    params = [param.astype(args.precision) for param in params]
    raise NotImplementedError(
        "Exercise 6.4: config_team, then everyone takes the parameters of rank 0"
    )
    batches = {"global_batch": args.batch_size, "local_batch": args.batch_size // size}
    run = Run("06", args, params, "mpi", optimizer="sgd", scaling="strong", **batches)
    rng = np.random.default_rng(args.seed)  # the same on all ranks, so all cut the same batches
    updates = 0
    for _ in range(args.epochs):
        with run.epoch() as log:
            batches = minibatches(len(x_train), args.batch_size, rng)
            loss = 0.0
            right = 0
            for batch in batches:
                mine = batch[rank::size]  # this rank's slice of the global batch
                x = x_train[mine].astype(args.precision)
                labels = y_train[mine]
                probabilities, cache = forward(params, x)
                gradients = backward(cache, labels, len(batch) / size)
                raise NotImplementedError("Exercise 6.4: the mean of all ranks' gradients")
                update(params, gradients, args.lr)
                updates += 1
                loss += cross_entropy(probabilities, labels) * size / len(x_train)
                right += int((probabilities.argmax(axis=1) == labels).sum())
            # Of this rank's share of the images.
            log(steps=len(batches), loss=loss, accuracy=right * size / len(x_train))
    run.measure("max_steps_off", max_steps - updates, "steps")
    compare_with_serial(args, params, run)
    loss, accuracy = evaluate(params, mnist.x_test.reshape(-1, 784), mnist.y_test)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    raise NotImplementedError("Exercise 6.4: the last call")
    run.measure("team_left", len(ml_comm.team))  # no ranks after the plugin has ended
    run.end(test_loss=loss, test_accuracy=accuracy)


def evaluate(params, x, labels):
    """Return loss and accuracy with the current parameters."""
    probabilities, _ = forward(params, x)
    loss = cross_entropy(probabilities, labels) / len(labels)
    accuracy = float((probabilities.argmax(axis=1) == labels).mean())
    return loss, accuracy


def compare_with_serial(args, params, run):
    """Save the parameters if there is one rank, else compare with those saved."""
    flat = np.concatenate([param.ravel() for param in params])
    name = "serial_{train_samples}_{epochs}_{batch_size}_{precision}.npy"
    serial = Path(name.format(**vars(args)))
    if run.size == 1:
        np.save(serial, flat)
    elif run.rank == 0 and serial.exists():
        distance = np.abs(flat - np.load(serial)).max()
        run.measure("difference_to_serial", float(distance))


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of all ranks")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument(
        "--precision", default="float32", choices=["float32", "float64"], help="type of all numbers"
    )
    parser.add_argument("--model", default="mlp64", choices=["mlp64"], help="the network")
    return parser


def main():
    args = command_line().parse_args()
    mnist = data.load("mnist", train_samples=args.train_samples)
    train(ml_comm, args, mnist)


if __name__ == "__main__":
    main()
