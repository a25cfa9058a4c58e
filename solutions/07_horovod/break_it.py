"""Train as in train.py without one line, and record the effect: a run for each fault.

mpirun -np 2 python break_it.py --without nothing average broadcast
"""

import math
import os
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import train

keras = tf.keras
FAULTS = ("nothing", "init", "average", "scale", "broadcast", "early", "seeds", "guard")
LOOKS = (1, 2, 5, 10, 20, 50, 100)  # the ranks are compared after these steps


def make_optimizer(lr, without):
    """Do step 3, or half of it."""
    if without == "average":
        return keras.optimizers.Adam(float(train.make_optimizer(lr).learning_rate))
    if without == "scale":
        return train.make_optimizer(lr / hvd.size())
    return train.make_optimizer(lr)


def start_alike(model, without):
    """Return the callbacks that do step 4 before the first step, after it, or never."""
    if without == "early":  # Horovod's own callback sends after the first batch
        return [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
    if without != "broadcast":
        train.start_alike(model)
    return []


def save(model, path, without):
    """Do step 5. Return the system's error on this rank, or an empty text."""
    if hvd.rank() != 0 and without != "guard":
        return ""
    try:  # without the guard, the result depends on which rank comes first
        model.save_weights(path)
    except OSError as error:
        return str(error)
    return ""


def readable(model, path):
    """Return whether the file can be read and contains the parameters of this rank."""
    try:
        before = model.get_weights()
        model.load_weights(path)
    except (OSError, ValueError, KeyError) as error:
        print(f"The checkpoint cannot be read: {error}")
        return False
    return all((new == old).all() for new, old in zip(model.get_weights(), before, strict=True))


def spread_of(model):
    """Return the largest difference of any parameter between any two ranks."""
    low_high = []
    for weights in model.get_weights():
        everyone = hvd.allgather(weights[None])
        low_high.append(float(np.ptp(everyone, axis=0).max()))
    return max(low_high)


def comparing(model, run):
    """Return a callback that compares the ranks' parameters at some of the steps."""

    def compare(step):
        run.measure("spread", spread_of(model), step=step)

    def after_batch(batch, logs=None):
        step = int(model.optimizer.iterations)
        if step in LOOKS:
            compare(step)

    return keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs=None: compare(0), on_batch_end=after_batch
    )


def without_init():
    """Return Horovod's error in a program that never met the other ranks."""
    try:
        hvd.size()
    except ValueError as error:
        print(f"Without hvd.init() every rank ends here: ValueError: {error}")


def one_run(args, without, mnist):
    rank, size = hvd.rank(), hvd.size()
    own = 0 if without == "seeds" else rank
    keras.utils.set_random_seed(args.seed + own)
    model = train.build_model("mlp512")
    model.compile(
        optimizer=make_optimizer(args.lr, without),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.optimizer.jit_compile = False  # no XLA in the update, on GPUs as on CPUs
    run = Run("07", args, model, source="break-it", without=without)
    late = start_alike(model, without)
    model.fit(
        mnist.x_train,
        mnist.y_train,
        batch_size=args.batch_size,
        epochs=math.ceil(args.epochs / size),
        verbose=0,
        callbacks=[*late, comparing(model, run), run.keras()],
    )
    loss, accuracy = model.evaluate(mnist.x_test, mnist.y_test, verbose=0)
    os.makedirs("checkpoints", exist_ok=True)
    path = f"checkpoints/without_{without}.weights.h5"
    hvd.allgather([rank])  # so that all ranks save at the same time, as they do after an epoch
    said = save(model, path, without)
    failed = np.sum(hvd.allgather([float(bool(said))]))
    if said:
        print(f"rank {rank}, saving: {said}")
    run.measure("ranks_that_could_not_save", int(failed), "ranks")
    run.measure("checkpoint_good", int(rank == 0 and readable(model, path)))
    run.end(test_loss=loss, test_accuracy=accuracy)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--without", nargs="+", default=FAULTS, choices=FAULTS, help="what to omit")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images per step of a device")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate for one device")
    parser.add_argument("--train-samples", type=int, default=3200, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=2000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()
    enough_gpus(len(tf.config.list_physical_devices("GPU")))
    if "init" in args.without:
        without_init()
    train.start_horovod()
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    for without in args.without:
        if without != "init":
            one_run(args, without, mnist)


if __name__ == "__main__":
    main()
