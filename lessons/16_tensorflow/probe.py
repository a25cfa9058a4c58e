"""Test whether train_multiworker.py's workers train as one, and both functions of staleness.py.

mpirun -np 2 python probe.py

Nothing here is to be filled in. The job runs it after the training, on the same tasks.
"""

import train_multiworker as train  # the first import: it chooses the Keras

# isort: split

import numpy as np
import tensorflow as tf

from lessons.toolkit.checks import lesson_16
from lessons.toolkit.probes.on_ranks import meet, run_tests
from lessons.toolkit.record import Run

import staleness
from tf_cluster import join_cluster, take_gpu, this_rank

keras = tf.keras
SAMPLES, BATCH, EPOCHS, LR = 53, 8, 2, 0.1  # 53 images: no number of workers divides them


def every_rank(strategy, row):
    """Return the rows of all workers, gathered by the strategy's own collective."""
    mine = strategy.experimental_distribute_values_from_function(lambda _: tf.constant([row]))
    return strategy.gather(mine, axis=0).numpy()


def heard(strategy, rank, size):
    """Let each worker send its number to all others."""
    yield "ranks_heard", len(np.unique(every_rank(strategy, rank)))


def shares(rank, size):
    return np.array([train.my_share(SAMPLES, seed, rank, size) for seed in range(EPOCHS)])


def shared_out(strategy, rank, size):
    """Look which images all workers read in two epochs, and in which order."""
    everyone = every_rank(strategy, shares(rank, size))  # workers, epochs, images
    orders = [everyone[:, epoch].reshape(-1) for epoch in range(EPOCHS)]
    yield "images_missing", SAMPLES // size * size - min(len(np.unique(order)) for order in orders)
    yield "orders", len({tuple(order) for order in orders})


def network():
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(16, activation="relu", input_shape=(20,), dtype="float64")]
    return keras.Sequential([*layers, keras.layers.Dense(10, "softmax", dtype="float64")])


def flat(model):
    return np.concatenate([weights.reshape(-1) for weights in model.get_weights()])


def many_against_one(strategy, rank, size):
    """Fit on all workers, then take the same steps on this one with the images of all."""
    rng = np.random.default_rng(1)
    x, y = rng.random((SAMPLES, 20)), rng.integers(0, 10, SAMPLES)
    everyone = np.array([shares(other, size) for other in range(size)])
    with strategy.scope():
        model = network()
        model.compile(
            keras.optimizers.SGD(LR, jit_compile=False), "sparse_categorical_crossentropy"
        )
    twin, before = network(), flat(model)
    batches = train.my_batches(x, y, shares(rank, size), BATCH)
    steps = -(-everyone.shape[2] // BATCH)
    model.fit(
        strategy.distribute_datasets_from_function(lambda _: batches),
        steps_per_epoch=steps, epochs=EPOCHS, verbose=0,
    )  # fmt: skip
    for step in range(EPOCHS * steps):
        epoch, first = step // steps, step % steps * BATCH
        numbers = everyone[:, epoch, first : first + BATCH].reshape(-1)
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(y[numbers], twin(x[numbers]))
            loss = tf.reduce_mean(losses)
        for param, gradient in zip(
            twin.trainable_variables, tape.gradient(loss, twin.trainable_variables), strict=True
        ):
            param.assign_sub(LR * gradient)
    right = flat(twin)
    yield "update_error", np.linalg.norm(flat(model) - right) / np.linalg.norm(right - before)
    yield "update_spread", np.ptp(every_rank(strategy, flat(model)), axis=0).max()


def staleness_of_updates(*_):
    """Count the updates whose staleness or missed rows are wrong, in random cases."""
    yield "wrong_reads", lesson_16.wrong_reads(staleness.simulate_async)
    yield "wrong_missed", lesson_16.wrong_missed(staleness.missed)


TESTS = {  # with the measures that every program gets, even if the test fails
    heard: ["ranks_heard"],
    shared_out: ["images_missing", "orders"],
    many_against_one: ["update_error", "update_spread"],
    staleness_of_updates: ["wrong_reads", "wrong_missed"],
}


def main():
    args = train.command_line().parse_args()

    rank, local_rank, size = this_rank()

    def start():
        kinds = ["worker"] * size
        return train.make_strategy(join_cluster(kinds), take_gpu(kinds), args.wait)

    strategy = meet(start, "16", args, TESTS)
    run = Run("16", args, source="probe", rank=rank, size=size, local_rank=local_rank)
    run_tests(run, TESTS, strategy, rank, size)


if __name__ == "__main__":
    main()
