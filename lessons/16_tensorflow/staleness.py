"""Measure how old the parameters behind a gradient are, and what that costs.

The staleness of an update is the number of updates between reading the parameters and making it.
"""

import numpy as np

from network import backward, forward, minibatches, start


def staleness(reads):
    """Return each update's staleness: updates made between its reading and applying."""
    return np.arange(len(reads)) - np.asarray(reads)


def train_late(mnist, reads, lr, batch=32, seed=1):
    """Train lesson 01's network, and return the test accuracy.

    Update k uses the gradient at the parameters after reads[k] updates.
    """
    rng = np.random.default_rng(seed)
    x, x_test = mnist.x_train.reshape(-1, 784), mnist.x_test.reshape(-1, 784)
    history = {0: start(rng)}
    batches = []
    for update, read in enumerate(reads):
        batches = batches or minibatches(len(x), batch, rng)
        part = batches.pop()
        _, cache = forward(history[read], x[part])
        gradients = backward(cache, mnist.y_train[part], len(part))
        pairs = zip(history[update], gradients, strict=True)
        history[update + 1] = [param - lr * gradient for param, gradient in pairs]
        oldest = min(reads[update + 1 :], default=0)
        history = {number: params for number, params in history.items() if number >= oldest}
    probabilities, _ = forward(history[len(reads)], x_test)
    return float((probabilities.argmax(axis=1) == mnist.y_test).mean())


def tell_staleness(run, results):
    """Record who made how many gradients, and how many of them were how many updates late.

    results: for each gradient its worker and its staleness.
    """
    workers, late = np.array(results, dtype=int).T
    run.measure("staleness_mean", float(late.mean()), "updates")
    for value, count in zip(*np.unique(late, return_counts=True), strict=True):
        run.measure("staleness", int(count), "gradients", late=int(value))
    for worker, count in zip(*np.unique(workers, return_counts=True), strict=True):
        run.measure("work", int(count), "gradients", worker=int(worker))
    run.measure("workers_heard", len(np.unique(workers)), "workers")
