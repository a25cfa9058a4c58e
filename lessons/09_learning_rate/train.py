"""Train lesson 01's network as N workers would, with a rate for every step: a whole sweep."""

import argparse
import dataclasses
import itertools
import math

import numpy as np

from lessons.toolkit import data
from lessons.toolkit.record import Record

import ml_comm
import rates
from network import backward, cross_entropy, forward, minibatches, start

HIDDEN = {"mlp16": 16, "mlp64": 64}  # hidden units of the two networks


def train(mc, args, mnist, workers, rule, seed):
    """One setting of the sweep: `workers` workers' batch, shared by the ranks that are here."""
    params = start(np.random.default_rng(seed), hidden=HIDDEN[args.model])
    x_train, y_train, batch_size = mnist.x_train, mnist.y_train, args.batch_size * workers
    totsize = sum(param.size for param in params)
    mc.init(1, 1, totsize, "numpy")
    rank, size = mc.get_rank(), mc.get_nranks()
    per_epoch = math.ceil(len(x_train) / batch_size)
    total, warmup = args.epochs * per_epoch, round(args.warmup * per_epoch)
    mc.config_team(0, 0, 100, total, 0, 200)
    params = mc.broadcast(params, 0)
    speeds = [np.zeros_like(param) for param in params]
    peak = rates.scaled(args.lr, workers, rule)
    facts = {"optimizer": "lars" if args.lars else "sgd", "dataset": mnist.facts, "lr": peak}
    facts |= {"workers": workers, "rule": rule, "seed": seed, "warmup": args.warmup}
    facts |= {"decay": args.decay, "momentum": args.momentum, "source": args.source}
    facts |= {"global_batch": batch_size, "local_batch": args.batch_size}
    record = Record("09", args, params=totsize, rank=rank, size=size, **facts)
    points = {0: "start", warmup // 2: "half warm-up", warmup: "warm", total - 1: "end"}
    points[(warmup + total) // 2] = "half decay"
    rng, step = np.random.default_rng(seed), 0
    for number in range(1, args.epochs + 1):
        with record.epoch() as epoch:
            loss, right = 0.0, 0
            for batch in minibatches(len(x_train), batch_size, rng):
                mine = batch[rank::size]
                x, labels = x_train[mine], y_train[mine]
                probabilities, cache = forward(params, x)
                gradients = mc.gradients(backward(cache, labels, len(batch) / size), 0)
                lr = rates.lr_at(step, args.lr, peak, warmup, total, args.decay)
                if step in points:
                    record.measure("lr", lr, "", step=step, point=points[step])
                if args.lars:
                    gradients = rates.lars(params, gradients, args.lars)
                rates.update(params, gradients, speeds, lr, args.momentum)
                loss += cross_entropy(probabilities, labels) * size / len(x_train)
                right += int((probabilities.argmax(axis=1) == labels).sum())
                step += 1
            epoch.log(steps=per_epoch, loss=loss, accuracy=right * size / len(x_train), lr=lr)
        test_loss, accuracy = evaluate(params, mnist.x_test, mnist.y_test)
        record.evaluated(accuracy, loss=test_loss, epoch=number, samples=len(mnist.y_test))
        if args.until:  # what the log says was measured while the parameters still moved
            train_loss, _ = evaluate(params, x_train, y_train)
            record.measure("train_loss", train_loss, "", epoch=number)
            if train_loss <= args.until:
                break
    record.end(params=params, test_accuracy=accuracy, test_loss=test_loss)
    mc.finalize()
    return accuracy


def evaluate(params, x, labels):
    """Loss and accuracy with the parameters as they are now."""
    probabilities, _ = forward(params, x)
    loss = cross_entropy(probabilities, labels) / len(labels)
    return loss, float((probabilities.argmax(axis=1) == labels).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--rules", nargs="+", default=["same", "sqrt", "linear"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--warmup", type=float, default=0.0, help="in epochs of this batch")
    parser.add_argument("--decay", default="none", choices=["none", "cosine", "exponential"])
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--lars", type=float, default=0.0, help="trust coefficient; 0: without")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--until", type=float, default=0.0, help="stop at this training loss")
    parser.add_argument("--batch_size", type=int, default=32, help="of one worker")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--train-samples", type=int, default=60000)
    parser.add_argument("--model", default="mlp64", choices=HIDDEN)
    parser.add_argument("--task", type=int, help="number of a job array's task: rate, momentum")
    args = parser.parse_args()
    args.source = "gap" if args.until else "sweep" if args.model == "mlp64" else args.model
    if args.task is not None:
        args.source, (args.lr, args.momentum) = "array", rates.setting(args.task)
    mnist = data.load("mnist", train_samples=args.train_samples)
    flat = {"x_train": mnist.x_train.reshape(-1, 784), "x_test": mnist.x_test.reshape(-1, 784)}
    for workers, rule, seed in itertools.product(args.workers, args.rules, args.seeds):
        if workers > 1 or rule == args.rules[0]:  # for one worker all rules are the same
            accuracy = train(ml_comm, args, dataclasses.replace(mnist, **flat), workers, rule, seed)
            print(f"N {workers:3}, {rule:6}, seed {seed}: test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
