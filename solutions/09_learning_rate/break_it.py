"""Train eight workers with one wrong line, and record its effect: a run for each fault.

python break_it.py --without nothing summed batch
"""

import copy
import dataclasses
import types
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

from lessons.toolkit import data

import ml_comm
import train

FAULTS = ("nothing", "summed", "rate", "batch", "momentum")


def summed(mc, workers):
    """The calls of mc, with the sum of all workers' gradients instead of their mean."""

    def gradients(tensors, number):
        return [workers * mean for mean in mc.gradients(tensors, number)]

    return types.SimpleNamespace(**{**vars(mc), "gradients": gradients})


def one_run(args, without, mnist):
    mc, mine, rule = ml_comm, copy.copy(args), "linear"
    mine.source = f"without {without}"
    if without == "summed":
        mc = summed(ml_comm, args.workers)
    elif without == "rate":
        rule = "same"
    elif without == "batch":  # the rate is scaled, but the global batch is that of one worker
        mine.batch_size = args.batch_size // args.workers
    elif without == "momentum":  # left on, with a rate that was found without it
        mine.momentum = 0.9
    return train.train(mc, mine, mnist, args.workers, rule, args.seed)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="the faults")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a worker")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate of one worker")
    parser.add_argument("--workers", type=int, default=8, help="workers that share a step")
    parser.add_argument("--warmup", type=float, default=1.0, help="epochs until the full rate")
    parser.add_argument("--train-samples", type=int, default=12800, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    parser.add_argument("--model", default="mlp64", choices=train.HIDDEN, help="the network")
    parser.set_defaults(decay="cosine", momentum=0.0, lars=0.0, until=0.0)
    return parser


def main():
    args = command_line().parse_args()
    mnist = data.load("mnist", train_samples=args.train_samples)
    mnist = dataclasses.replace(
        mnist, x_train=mnist.x_train.reshape(-1, 784), x_test=mnist.x_test.reshape(-1, 784)
    )
    for without in args.without:
        accuracy = one_run(args, without, mnist)
        print(f"without {without:8}: test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
