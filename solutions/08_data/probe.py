"""Test make_parts.py and train.py: who reads what, and does every image count equally?

mpirun -np 2 python probe.py

Nothing here is to be filled in. Your functions share out a small set of images, whose shares are
unequal on purpose. Then all ranks train on unequal shares, in double precision, and each process
takes the same steps by itself, on the batches of all ranks together.
"""

import os
import shutil
import tempfile

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # as in train.py

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from mpi4py import MPI

from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.ranks import images_apart, looking
from lessons.toolkit.record import Run

import make_parts
import train

keras = tf.keras
everyone = MPI.COMM_WORLD.allgather  # returns the values of all ranks
IMAGES, BATCH, LR = 53, 8, 0.01
STEPS = {(3200, 2400): 75, (101, 100): 4}  # images of two ranks: their common steps of 32


def network(seed):
    keras.utils.set_random_seed(seed)
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Flatten(input_shape=(28, 28)),
            layers.Dense(32, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )


def flat(model):
    return np.concatenate([weights.ravel() for weights in model.get_weights()])


def who_reads_what():
    """Cut images into a few more parts than there are ranks, and read them on all ranks."""
    rng = np.random.default_rng(1)  # the same on all ranks
    x = rng.integers(0, 256, (IMAGES, 28, 28)) / 255
    y = rng.integers(0, 10, IMAGES)
    parts = 2 * hvd.size() + 1
    make_parts.partition(y, parts)  # on all ranks: if it fails on one, the others would wait
    [folder, *_] = everyone(tempfile.mkdtemp(dir=".") if hvd.rank() == 0 else None)
    try:
        if hvd.rank() == 0:
            make_parts.write_parts(x, y, folder, parts)
        everyone(None)  # until they are written
        with looking(folder) as looks:
            files = train.my_files(folder)
        yield "ranks_that_looked", sum(everyone(len(looks) > 0))
        own_x, own_y, *_ = make_parts.load_parts(folder, files)
        yield from images_apart((own_x, own_y), (x, y), everyone).items()
    finally:
        if hvd.rank() == 0:
            shutil.rmtree(folder)


def how_many_steps():
    """Ask for the steps of ranks with unequal shares; in training, all shares may be equal."""
    yield "steps_error", max(abs(train.common_steps(list(c), 32) - n) for c, n in STEPS.items())


def many_against_one():
    """Train for an epoch on all ranks, each with more images than the last, and on one process."""
    rank, size = hvd.rank(), hvd.size()
    counts = [2 * BATCH + 1 + 5 * each for each in range(size)]
    rng = np.random.default_rng(2 + rank)
    x, y = rng.random((counts[rank], 28, 28)), rng.integers(0, 10, counts[rank])
    steps = train.common_steps(counts, BATCH)
    weight = train.last_weight(counts, BATCH, rank)
    batches = [
        [each.numpy() for each in batch] for batch in train.batches_of(x, y, BATCH, steps, weight)
    ]
    together = everyone(batches)
    if len({len(each) for each in together}) > 1:  # they would wait for each other forever
        raise ValueError(f"the ranks have {[len(each) for each in together]} batches")
    model = network(1 + rank)  # different, until train.py makes them equal
    model.compile(train.make_optimizer(LR), "sparse_categorical_crossentropy", run_eagerly=True)
    model.optimizer.jit_compile = False  # as in train.py
    train.start_alike(model)
    for images, labels, weights in batches:
        model.train_on_batch(images, labels, weights)

    twin = network(1)  # as rank 0 built it
    before = flat(twin)
    optimizer = keras.optimizers.Adam(LR * size)
    for step in zip(*together, strict=True):
        images, labels, _ = (np.concatenate(each) for each in zip(*step, strict=True))
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(labels, twin(images))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, twin.trainable_variables)
        optimizer.apply_gradients(zip(gradients, twin.trainable_variables, strict=True))
    right = flat(twin)
    yield (
        "probe_error",
        float(np.linalg.norm(flat(model) - right) / np.linalg.norm(right - before)),
    )
    yield "probe_spread", float(np.ptp(np.stack(everyone(flat(model))), axis=0).max())


TESTS = {  # with measures that rubrics ask for, and that fail with the test
    who_reads_what: ("ranks_that_looked", "images_twice", "images_missing", "images_foreign"),
    how_many_steps: ("steps_error",),
    many_against_one: ("probe_error", "probe_spread"),
}


def command_line():
    return train.command_line()  # the job starts both programs with the same options


def main():
    args = command_line().parse_args()
    train.start_horovod()
    keras.backend.set_floatx("float64")
    run_tests(Run("08", args, source="probe"), TESTS)
    keras.backend.set_floatx("float32")  # as before, for a program in the same process


if __name__ == "__main__":
    main()
