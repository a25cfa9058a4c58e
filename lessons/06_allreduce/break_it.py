"""Train as in train.py over your own ring, with one wrong line: a run for each fault.

mpirun -np 2 python break_it.py --without nothing divide half
"""

import time

import numpy as np
from mpi4py import MPI

from lessons.toolkit import data
from lessons.toolkit.probes.collectives import half_a_ring
from lessons.toolkit.record import Run

import train
from collectives import ring_allreduce
from network import backward, cross_entropy, forward, minibatches, start

comm = MPI.COMM_WORLD
FAULTS = ("nothing", "divide", "half", "slice", "send")
LOOKS = (1, 2, 5, 10, 20, 50, 100, 200)  # the ranks are compared after these steps


def mean_of_all(gradients, without):
    """Return each array's mean over all ranks; all arrays travel as one."""
    flat = np.concatenate([gradient.ravel() for gradient in gradients])
    if without == "half":
        half_a_ring(comm, flat)
    else:
        ring_allreduce(comm, flat)
    if without != "divide":
        flat /= comm.size
    pieces = np.split(flat, np.cumsum([gradient.size for gradient in gradients])[:-1])
    return [new.reshape(old.shape) for new, old in zip(pieces, gradients, strict=True)]


def begin(args):
    """Return parameters, and a generator for the batches, the same on all ranks."""
    params = start(np.random.default_rng(args.seed))
    return [param.astype(args.precision) for param in params], np.random.default_rng(args.seed)


def length(before, params):
    """Return how far all parameters together have moved."""
    return np.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(before, params, strict=True)))


def on_one_rank(args, x_train, y_train):
    """Return the first step's length and the final parameters of one rank with whole batches."""
    params, rng = begin(args)
    before, first = [param.copy() for param in params], 0.0
    for _ in range(args.epochs):
        for batch in minibatches(len(x_train), args.batch_size, rng):
            _, cache = forward(params, x_train[batch])
            train.update(params, backward(cache, y_train[batch], len(batch)), args.lr)
            first = first or length(before, params)
    return first, params


def spread_of(params):
    """Return the largest difference of any parameter between any two ranks."""
    everyone = comm.allgather(np.concatenate([param.ravel() for param in params]))
    return float(np.ptp(everyone, axis=0).max())


def one_run(args, without, mnist):
    rank, size = comm.rank, comm.size
    x_train, y_train = mnist.x_train.reshape(-1, 784).astype(args.precision), mnist.y_train
    first, right = on_one_rank(args, x_train, y_train)
    params, rng = begin(args)
    before, step = [param.copy() for param in params], 0
    facts = {"without": without, "optimizer": "sgd", "scaling": "strong"}
    facts |= {"global_batch": args.batch_size, "local_batch": args.batch_size // size}
    run = Run("06", args, params, "break-it", **facts)
    run.measure("spread", spread_of(params), step=0)
    for _ in range(args.epochs):
        with run.epoch() as log:
            batches = minibatches(len(x_train), args.batch_size, rng)
            loss = 0.0
            for batch in batches:
                mine = batch[::size] if without == "slice" else batch[rank::size]
                probabilities, cache = forward(params, x_train[mine])
                gradients = backward(cache, y_train[mine], len(batch) / size)
                train.update(params, mean_of_all(gradients, without), args.lr)
                loss += cross_entropy(probabilities, y_train[mine]) * size / len(x_train)
                step += 1
                if step == 1:
                    run.measure("first_step", length(before, params) / first, "times one rank's")
                if step in LOOKS:
                    run.measure("spread", spread_of(params), step=step)
            log(steps=len(batches), loss=loss)
    away = max(abs(a - b).max() for a, b in zip(params, right, strict=True))
    run.measure("away_from_one_rank", float(away))
    loss, accuracy = train.evaluate(params, mnist.x_test.reshape(-1, 784), mnist.y_test)
    run.end(test_loss=loss, test_accuracy=accuracy)


def sends_first(floats, patience):
    """Return whether a ring works in which everyone sends before anyone receives."""
    values, received = np.ones(floats), np.empty(floats)
    request = comm.Isend(values, dest=(comm.rank + 1) % comm.size)  # a Send that can be abandoned
    until = time.monotonic() + patience
    gone = request.Test()
    while not gone and time.monotonic() < until:
        gone = request.Test()
    comm.Barrier()  # so that no Recv helps another rank's Send
    comm.Recv(received, source=(comm.rank - 1) % comm.size)
    request.Wait()
    return comm.allreduce(int(gone), MPI.MIN)


def blocking_sends(args):
    """Test the fault `send` without training, which would not begin."""
    run = Run("06", source="break-it", without="send")
    for floats in (10, 100, 1_000, 10_000, 100_000):
        gone = sends_first(floats, args.patience)
        run.measure("send_done", gone, bytes=8 * floats)
    run.end()


def command_line():
    parser = train.command_line()
    parser.description = __doc__
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="the faults")
    parser.add_argument(
        "--patience", type=float, default=1.0, help="seconds after which a Send counts as stuck"
    )
    parser.set_defaults(epochs=2, train_samples=3200, precision="float64")
    return parser


def main():
    args = command_line().parse_args()
    mnist = data.load("mnist", train_samples=args.train_samples)
    for without in args.without:
        if without == "send":
            blocking_sends(args)
        else:
            one_run(args, without, mnist)


if __name__ == "__main__":
    main()
