"""Simulate workers that do not wait: how old their parameters are, and what that costs.

The staleness of an update is the number of updates between reading the parameters and making it.
"""

import heapq

import numpy as np

from network import backward, forward, minibatches, start


def simulate_async(p, delays, updates=400):
    """Return for each update how many updates had been made when its worker read the parameters.

    Worker w takes delays[w] seconds for a gradient. All read at time 0, after 0 updates. Whoever is
    ready first makes the next update, reads the parameters again, and starts over.
    """
    ### BEGIN SOLUTION Exercise 16.1: a number for each update, in their order
    ready = [(delays[worker], worker) for worker in range(p)]
    heapq.heapify(ready)
    read, reads = [0] * p, []
    for update in range(updates):
        now, worker = heapq.heappop(ready)
        reads.append(read[worker])
        read[worker] = update + 1
        heapq.heappush(ready, (now + delays[worker], worker))
    return reads
    ### END SOLUTION


def missed(reads, rows):
    """Return for each update how many of its rows others have changed since it read them.

    rows[k] is the set of rows of a table that update k reads and changes.
    """
    ### BEGIN SOLUTION Exercise 16.2: a number for each update, in their order
    return [
        len(own & set().union(*rows[read:update]))
        for update, (read, own) in enumerate(zip(reads, rows, strict=True))
    ]
    ### END SOLUTION


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
