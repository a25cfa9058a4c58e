"""Measure how much faster ranks are than one, with train.py's Horovod, and the limit.

mpirun -np 2 python speed.py --rounds 12 --steps 2 --batch-size 48

It works like the timer of lesson 02. A round times the same steps in three phases: one rank, all
ranks without exchanges (the limit), all ranks together. The result is the median over the rounds.
A process that never imports train.py does the work of the first two phases, `alone`. Another
process on each rank does that of the third, `together`.
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

from lessons.toolkit import clock

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="of three phases each, at most")
    parser.add_argument("--steps", type=int, default=2, help="of a phase, on average")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=48, help="images a step, on each rank"
    )
    parser.add_argument("--width", type=int, default=1, help="10: enough arithmetic for a GPU")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--seed", type=int, default=1, help="where the networks begin")
    return parser


def network(job):
    """Return a network that differs between ranks, until they are made equal."""
    import tensorflow as tf

    import resnet

    tf.keras.utils.set_random_seed(job.args.seed + job.rank)
    return resnet.resnet(job.args.width)


def alone(job):
    """Return the work of a rank that exchanges nothing. Nothing here comes from train.py."""
    import tensorflow as tf

    from lessons.toolkit.clock.keras_work import KerasWork

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[job.local_rank], "GPU")
    adam = tf.keras.optimizers.Adam(job.args.lr * job.size)
    return KerasWork(network(job), adam, job.args)


def together(job):
    """Return the work of one of several ranks, with your functions for Horovod."""
    import tensorflow as tf

    from lessons.toolkit.clock.keras_work import KerasWork
    from lessons.toolkit.ranks import enough_gpus

    import train

    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    train.start_horovod()
    model, optimizer = network(job), train.make_optimizer(job.args.lr)
    train.start_alike(model)
    return KerasWork(model, optimizer, job.args)


if __name__ == "__main__":
    clock.conduct(alone, together, command_line(), lesson="07", framework="tensorflow")
