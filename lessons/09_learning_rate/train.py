"""Train lesson 01's network as N workers would, with a rate for every step: a whole sweep.

python train.py --workers 1 8 16 --rules same sqrt linear --seeds 1 2
"""

import dataclasses
import itertools
import math
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import numpy as np

from lessons.toolkit import data
from lessons.toolkit.record import Run

import ml_comm
import rates
from network import backward, cross_entropy, forward, minibatches, start

HIDDEN = {"mlp16": 16, "mlp64": 64}  # hidden units of the two networks


def train(mc, args, mnist, workers, rule, seed):
    """Train one setting: the batch of `workers` workers, shared by the actual ranks."""
    x_train = mnist.x_train
    y_train = mnist.y_train
    params = start(np.random.default_rng(seed), hidden=HIDDEN[args.model])
    speeds = [np.zeros_like(param) for param in params]
    totsize = sum(param.size for param in params)

    batch_size = args.batch_size * workers
    per_epoch = math.ceil(len(x_train) / batch_size)
    total = args.epochs * per_epoch
    warmup = round(args.warmup * per_epoch)
    peak = rates.scaled(args.lr, workers, rule)

    mc.init(1, 1, totsize, "numpy")
    rank = mc.get_rank()
    size = mc.get_nranks()
    mc.config_team(0, 0, 100, total, 0, 200)
    params = mc.broadcast(params, 0)

    setting = {"workers": workers, "rule": rule, "seed": seed, "global_batch": batch_size}
    setting |= {"lr": peak, "optimizer": "lars" if args.lars else "sgd"}
    run = Run("09", args, params, args.source, **setting)
    points = {  # steps whose rate is recorded
        0: "start",
        warmup // 2: "half warm-up",
        warmup: "warm",
        total - 1: "end",
        (warmup + total) // 2: "half decay",
    }
    rng = np.random.default_rng(seed)  # the same on all ranks, so all cut the same batches
    step = 0
    for number in range(1, args.epochs + 1):
        with run.epoch() as log:
            loss = 0.0
            right = 0
            for batch in minibatches(len(x_train), batch_size, rng):
                mine = batch[rank::size]  # this rank's slice of the global batch
                x = x_train[mine]
                labels = y_train[mine]
                probabilities, cache = forward(params, x)
                gradients = backward(cache, labels, len(batch) / size)
                gradients = mc.gradients(gradients, 0)
                lr = rates.lr_at(step, args.lr, peak, warmup, total, args.decay)
                if step in points:
                    run.measure("lr", lr, step=step, point=points[step])
                if args.lars:
                    gradients = rates.lars(params, gradients, args.lars)
                rates.update(params, gradients, speeds, lr, args.momentum)
                loss += cross_entropy(probabilities, labels) * size / len(x_train)
                right += int((probabilities.argmax(axis=1) == labels).sum())
                step += 1
            accuracy = right * size / len(x_train)
            log(steps=per_epoch, loss=loss, accuracy=accuracy, lr=lr)
        test_loss, accuracy = evaluate(params, mnist.x_test, mnist.y_test)
        run.evaluated(accuracy, test_loss)
        if args.until:  # the log has values measured while the parameters still moved
            train_loss, _ = evaluate(params, x_train, y_train)
            run.measure("train_loss", train_loss, epoch=number)
            if train_loss <= args.until:
                break
    run.end(test_accuracy=accuracy, test_loss=test_loss)
    mc.finalize()
    return accuracy


def evaluate(params, x, labels):
    """Return loss and accuracy with the current parameters."""
    probabilities, _ = forward(params, x)
    loss = cross_entropy(probabilities, labels) / len(labels)
    accuracy = float((probabilities.argmax(axis=1) == labels).mean())
    return loss, accuracy


def source_of(args):
    """Return the name of these runs in the record."""
    if args.task is not None:
        return "array"
    if args.until:
        return "gap"
    return "sweep" if args.model == "mlp64" else args.model


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a worker")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate of one worker")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="seeds of the repeats")
    parser.add_argument("--model", default="mlp64", choices=HIDDEN, help="the network")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 8, 16], help="values of N")
    parser.add_argument("--rules", nargs="+", default=rates.RULES, help="how the rate grows")
    parser.add_argument("--warmup", type=float, default=0.0, help="epochs until the full rate")
    parser.add_argument("--decay", default="none", choices=rates.DECAYS, help="how the rate falls")
    parser.add_argument("--momentum", type=float, default=0.0, help="how much of a step stays")
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: no LARS")
    parser.add_argument("--until", type=float, default=0.0, help="training loss to stop at, or 0")
    parser.add_argument("--task", type=int, help="task of a job array: sets rate, momentum")
    return parser


def main():
    args = command_line().parse_args()
    args.source = source_of(args)
    if args.task is not None:
        args.lr, args.momentum = rates.setting(args.task)

    mnist = data.load("mnist", train_samples=args.train_samples)
    mnist = dataclasses.replace(
        mnist, x_train=mnist.x_train.reshape(-1, 784), x_test=mnist.x_test.reshape(-1, 784)
    )
    for workers, rule, seed in itertools.product(args.workers, args.rules, args.seeds):
        if workers > 1 or rule == args.rules[0]:  # all rules are equal for one worker
            accuracy = train(ml_comm, args, mnist, workers, rule, seed)
            print(f"N {workers:3}, {rule:6}, seed {seed}: test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
