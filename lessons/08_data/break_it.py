"""Train as in train.py with wrongly shared data, and record the effect: a run for each fault.

python make_parts.py; mpirun -np 2 python break_it.py --without nothing same labels
"""

import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from mpi4py import MPI

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus, images_apart
from lessons.toolkit.record import Run

import train
from make_parts import list_parts, load_parts

keras = tf.keras
FAULTS = ("nothing", "same", "own", "labels", "steps")  # the last fault ends Horovod


def files_of(args, without, rank, size):
    """Return this rank's files."""
    everyone = list_parts(args.folder)
    if without == "same":
        return everyone[0::size]
    if without == "own":
        everyone = list(np.random.default_rng(10 + rank).permutation(everyone))
    mine = everyone[rank::size]
    return mine[:-1] if without == "steps" and rank == size - 1 else mine


def batches_of(x, y, batch, steps, weight, without):
    """Return batches as in train.py, or with images and labels shuffled separately."""
    if without == "labels":
        y = np.random.default_rng(hvd.rank()).permutation(y)
    return train.batches_of(x, y, batch, steps, weight)


def one_run(args, without):
    rank, size = hvd.rank(), hvd.size()
    keras.utils.set_random_seed(args.seed + rank)
    x_train, y_train, ids, samples = load_parts(args.folder, files_of(args, without, rank, size))
    everyone = MPI.COMM_WORLD.allgather
    counts = everyone(len(ids))
    mnist = data.load("mnist", train_samples=samples, test_samples=args.test_samples)
    model = train.build_model("mlp512")
    model.compile(
        optimizer=train.make_optimizer(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    run = Run("08", args, model, source="break-it", without=without, shard=ids)
    train.start_alike(model)
    apart = images_apart((x_train, y_train), (mnist.x_train, mnist.y_train), everyone)
    for name, number in apart.items():
        run.measure(name, number, "images")
    steps = train.common_steps(counts, args.batch_size)
    weight = train.last_weight(counts, args.batch_size, rank)
    if without == "steps":
        steps = train.common_steps([len(ids)], args.batch_size)  # as if it were alone
        run.measure("steps_asked", everyone(steps), "steps")
    batches = batches_of(x_train, y_train, args.batch_size, steps, weight, without)
    averaged = hvd.callbacks.MetricAverageCallback()
    try:
        model.fit(batches, epochs=args.epochs, verbose=0, callbacks=[averaged, run.keras()])
    except tf.errors.OpError:
        if without != "steps":
            raise
        print(f"rank {rank} waited for a rank that did not come, until Horovod ended it")
        run.end()
        return
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    run.end(test_loss=loss, test_accuracy=accuracy)


def short_patience():
    """Start Horovod again: it warns after 3 s, not 60, and ends after 6 s, not never."""
    hvd.shutdown()
    os.environ["HOROVOD_STALL_CHECK_TIME_SECONDS"] = "3"
    os.environ["HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"] = "6"
    hvd.init()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="the faults")
    parser.add_argument("--epochs", type=int, default=2, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--test-samples", type=int, default=2000, help="test images in use")
    parser.add_argument("--folder", default="data/parts", help="where make_parts.py put the files")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()
    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    train.start_horovod()
    for without in sorted(args.without, key=FAULTS.index):
        if without == "steps":
            short_patience()
        one_run(args, without)


if __name__ == "__main__":
    main()
