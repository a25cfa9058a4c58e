"""What a student's functions do, tried on inputs that are not the student's: for the run record."""

from collections.abc import Callable
from typing import Any

UNLIKE = ([3200, 2400], [101, 100])  # images of two ranks


def probe_steps(record: Any, common_steps: Callable[[list[int], int], Any]) -> None:
    """Steps of ranks that have unlike numbers of images: in a run they may all have as many."""
    for counts in UNLIKE:
        steps = common_steps(list(counts), 32)
        record.measure("common_steps", steps, "steps", images=" and ".join(map(str, counts)))


def ranks_heard(keras: Any, optimizer: Any, rank: int, size: int) -> int:
    """On every rank: how many ranks' gradients move the parameters of this one, in one step.

    keras: the program's, 2 or 3. The network has a weight for each rank, which nothing but that
    rank's gradient can move: an input that is 1 there and 0 elsewhere.
    """
    import numpy as np

    weights = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros", input_shape=(size,))
    network = keras.Sequential([weights])
    network.compile(optimizer=optimizer, loss="mse", run_eagerly=True)  # no time for a graph
    network.train_on_batch(np.eye(size, dtype=np.float32)[[rank]], np.ones((1, 1), np.float32))
    return int(np.count_nonzero(network.get_weights()[0]))
