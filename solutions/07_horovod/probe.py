"""Test train.py: do N ranks of Horovod compute what one process computes?

mpirun -np 2 python probe.py

Nothing here is to be filled in. Real ranks call your functions for a few steps, in double
precision. Then each process takes the same steps by itself, on the batches of all ranks together.
"""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from horovod.tensorflow import allgather_object

from lessons.toolkit.probes.on_ranks import meet, run_tests
from lessons.toolkit.record import Run

import train

keras = tf.keras
layers = keras.layers
BATCH, STEPS, LR = 8, 4, 0.01


def network(seed):
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [
            layers.Flatten(input_shape=(28, 28), dtype="float64"),
            layers.Dense(32, activation="relu", dtype="float64"),
            layers.Dense(10, activation="softmax", dtype="float64"),
        ]
    )


def flat(model):
    return np.concatenate([weights.ravel() for weights in model.get_weights()])


def starts_alike():
    """Give each rank other numbers, also in variables that are not trained. Send rank 0's."""
    model = keras.Sequential([layers.Dense(3, input_shape=(2,)), layers.BatchNormalization()])
    rng = np.random.default_rng(hvd.rank())
    model.set_weights([rng.random(weights.shape) for weights in model.get_weights()])
    right = allgather_object(flat(model))[0]
    train.start_alike(model)
    yield "start_error", abs(flat(model) - right).max()


def many_against_one():
    """Fit on all ranks, each with its own images, and then on one process with all of them."""
    rank, size = hvd.rank(), hvd.size()
    rng = np.random.default_rng(1)  # the same on all ranks
    x = rng.random((size, STEPS * BATCH, 28, 28), np.float32)  # what fit makes of any number
    y = rng.integers(0, 10, (size, STEPS * BATCH))
    twin = network(1)  # as rank 0 builds it
    model = network(1 + rank)  # different, until train.py makes them equal
    model.compile(train.make_optimizer(LR), "sparse_categorical_crossentropy", run_eagerly=True)
    model.optimizer.jit_compile = False  # as in train.py
    train.start_alike(model)
    before = flat(twin)
    model.fit(x[rank], y[rank], BATCH, shuffle=False, verbose=0)

    classes = type(model.optimizer).__mro__  # Horovod derives its class from one of Keras
    plain = next(each for each in classes if "keras" in each.__module__.partition(".")[0])
    optimizer = plain.from_config(model.optimizer.get_config())
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        with tf.GradientTape() as tape:
            outputs = twin(x[:, part].reshape(-1, 28, 28))
            losses = keras.losses.sparse_categorical_crossentropy(y[:, part].ravel(), outputs)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, twin.trainable_variables)
        optimizer.apply_gradients(zip(gradients, twin.trainable_variables, strict=True))
    right, ranks = flat(twin), np.stack(allgather_object(flat(model)))
    error = np.linalg.norm(ranks[rank] - right) / np.linalg.norm(right - before)
    yield "update_error", error
    yield "update_spread", np.ptp(ranks, axis=0).max()


def one_checkpoint():
    """Fit without Horovod. Count the files of all ranks, and read the weights that rank 0 saved."""
    model, read, files = network(1), network(2), []
    model.compile("sgd", "sparse_categorical_crossentropy")
    x, y = np.random.default_rng(3).random((BATCH, 28, 28)), np.arange(BATCH)
    with tempfile.TemporaryDirectory() as folder:  # each rank has its own
        path = f"{folder}/probe.weights.h5"
        try:
            model.fit(x, y, BATCH, epochs=2, verbose=0, callbacks=train.checkpoints(path))
            files = [file for file in Path(folder).rglob("*") if file.is_file()]
        finally:  # also if this rank fails, because the others wait here
            every = allgather_object(len(files))
        yield "checkpoint_files", sum(every)
        if hvd.rank() == 0 and files:
            read.load_weights(path)
    yield "checkpoint_error", abs(flat(read) - flat(model)).max() if hvd.rank() == 0 else 0


TESTS = {  # with their measures, which fail with the test
    starts_alike: ("start_error",),
    many_against_one: ("update_error", "update_spread"),
    one_checkpoint: ("checkpoint_files", "checkpoint_error"),
}


def main():
    args = train.command_line().parse_args()  # the job starts both with the same options
    meet(train.start_horovod, "07", args, TESTS)
    run_tests(Run("07", args, source="probe"), TESTS)


if __name__ == "__main__":
    main()
