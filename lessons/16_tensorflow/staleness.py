"""How old are the parameters that a gradient was computed from: what it costs, and measured.

The staleness of an update: how many others were made between reading the parameters and it.
"""

import numpy as np

from network import backward, forward, minibatches, start


def staleness(reads):
    """Updates made between reading and applying, for each update."""
    return np.arange(len(reads)) - np.asarray(reads)


def train_late(mnist, reads, lr, batch=32, seed=1):
    """Lesson 01's network; update k is the gradient at the parameters after reads[k] updates.
    Returns the test accuracy."""
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


def tell_staleness(record, results):
    """Into the record: who made how many gradients, and how many came how many updates late.

    results: for each gradient its worker and its staleness.
    """
    workers, late = np.array(results, dtype=int).T
    record.measure("staleness_mean", float(late.mean()), "updates")
    for value, count in zip(*np.unique(late, return_counts=True), strict=True):
        record.measure("staleness", int(count), "gradients", late=int(value))
    for worker, count in zip(*np.unique(workers, return_counts=True), strict=True):
        record.measure("work", int(count), "gradients", worker=int(worker))
    record.measure("workers_heard", len(np.unique(workers)), "workers")
