"""Train lesson 01's network on several ranks: each computes its share of every batch."""

import argparse
import math
from pathlib import Path

import numpy as np

from lessons.toolkit import data
from lessons.toolkit.record import Record

import ml_comm


def start(rng, inputs=784, hidden=64, outputs=10):
    """Start parameters: random weights that keep the signal's size, and biases of zero."""
    w1 = rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden))
    w2 = rng.normal(0, np.sqrt(2 / hidden), (hidden, outputs))
    parts = [w1, np.zeros(hidden), w2, np.zeros(outputs)]
    return [part.astype(np.float32) for part in parts]


def forward(params, x):
    """Probabilities of the ten digits for each image, and what the backward pass will need."""
    w1, b1, w2, b2 = params
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)  # changes no probability; exp cannot overflow
    powers = np.exp(scores)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return probabilities, (x, hidden, w2, probabilities)


def cross_entropy(probabilities, labels):
    """Sum of -log(probability that the right digit was given)."""
    right = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(right, 1e-30)).sum())


def backward(cache, labels, batch):
    """This rank's part of the gradients of the mean cross-entropy over `batch` images."""
    x, hidden, w2, probabilities = cache
    d_scores = probabilities.copy()
    d_scores[np.arange(len(labels)), labels] -= 1
    d_scores /= batch
    d_hidden = d_scores @ w2.T
    d_hidden *= hidden > 0  # relu passes on only what was above zero
    return [x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)]


def update(params, gradients, lr):
    """One step downhill: every parameter moves against its gradient, in place."""
    for param, step in zip(params, gradients, strict=True):
        param -= lr * step


def minibatches(n, batch, rng):
    """A list of index arrays that hold 0 ... n-1 once each, in a new random order at each call."""
    shuffled = rng.permutation(n)
    return [shuffled[first : first + batch] for first in range(0, n, batch)]


def steps(epochs, nranks, n, batch):
    """Updates in all when `nranks` share the work of `epochs` epochs and each takes `batch`."""
    ### BEGIN SOLUTION Exercise 6.4: samples of all epochs / samples of one update, rounded up
    return math.ceil(epochs * n / (batch * nranks))
    ### END SOLUTION


def train(mc, args, mnist):
    """The whole training; mc has the five calls."""
    params = [part.astype(args.precision) for part in start(np.random.default_rng(args.seed))]
    totsize = sum(param.size for param in params)
    x_train, y_train = mnist.x_train.reshape(-1, 784), mnist.y_train
    ### BEGIN SOLUTION Exercise 6.4: first of all, init with this totsize
    mc.init(1, 1, totsize, "numpy")
    ### END SOLUTION
    rank, size = mc.get_rank(), mc.get_nranks()
    max_steps = steps(args.epochs, size, len(x_train), args.batch_size / size)
    ### BEGIN SOLUTION Exercise 6.4: config_team, then everyone takes the parameters of rank 0
    mc.config_team(0, 0, 100, max_steps, 2, 200)
    params = mc.broadcast(params, 0)
    ### END SOLUTION
    facts = {"optimizer": "sgd", "dataset": mnist.facts, "rank": rank, "size": size}
    facts |= {"global_batch": args.batch_size, "local_batch": args.batch_size // size}
    record = Record("06", args, source="mpi", params=totsize, scaling="strong", **facts)
    rng = np.random.default_rng(args.seed)  # the same on all ranks, so all cut the same batches
    for number in range(1, args.epochs + 1):
        with record.epoch() as epoch:
            batches = minibatches(len(x_train), args.batch_size, rng)
            loss, right = 0.0, 0
            for batch in batches:
                mine = batch[rank::size]  # own slice of the global batch
                x, labels = x_train[mine].astype(args.precision), y_train[mine]
                probabilities, cache = forward(params, x)
                gradients = backward(cache, labels, len(batch) / size)
                ### BEGIN SOLUTION Exercise 6.4: the mean of all ranks' gradients
                gradients = mc.gradients(gradients, 0)
                ### END SOLUTION
                update(params, gradients, args.lr)
                loss += cross_entropy(probabilities, labels) * size / len(x_train)
                right += int((probabilities.argmax(axis=1) == labels).sum())
            epoch.log(steps=len(batches), loss=loss, accuracy=right * size / len(x_train))
        if rank == 0:
            print(f"Epoch {number}: loss {loss:.4f}, of rank 0's share of the images")
    finish(args, mnist, params, record)
    ### BEGIN SOLUTION Exercise 6.4: the last call
    mc.finalize()
    ### END SOLUTION


def finish(args, mnist, params, record):
    """Test, save on rank 0, compare the ranks with each other and with a run of one rank."""
    probabilities, _ = forward(params, mnist.x_test.reshape(-1, 784))
    loss = cross_entropy(probabilities, mnist.y_test) / len(mnist.y_test)
    accuracy = float((probabilities.argmax(axis=1) == mnist.y_test).mean())
    flat, spread = np.concatenate([param.ravel() for param in params]), 0.0
    name = "serial_{train_samples}_{epochs}_{batch_size}_{precision}.npy"
    serial = Path(name.format(**vars(args)))
    if record.size > 1:
        from mpi4py import MPI

        lowest, highest = np.empty_like(flat), np.empty_like(flat)
        MPI.COMM_WORLD.Allreduce(flat, lowest, MPI.MIN)
        MPI.COMM_WORLD.Allreduce(flat, highest, MPI.MAX)
        spread = float((highest - lowest).max())
        if record.rank == 0 and serial.exists():
            distance = np.abs(flat - np.load(serial)).max()
            record.measure("difference_to_serial", float(distance), "")
    else:
        np.save(serial, flat)
    record.end(params=params, test_loss=loss, test_accuracy=accuracy, param_spread=spread)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch_size", type=int, default=32, help="of all ranks together")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--train-samples", type=int, default=60000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", default="float32", choices=["float32", "float64"])
    parser.add_argument("--model", default="mlp64", choices=["mlp64"])
    args = parser.parse_args()
    train(ml_comm, args, data.load("mnist", train_samples=args.train_samples))


if __name__ == "__main__":
    main()
