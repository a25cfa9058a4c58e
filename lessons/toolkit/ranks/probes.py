"""Test a student's functions on inputs they did not choose, and record the results."""

from typing import Any


def ranks_heard(keras: Any, optimizer: Any, rank: int, size: int) -> int:
    """Return the number of ranks whose gradients change this rank's parameters in one step.

    keras: the program's Keras, version 2 or 3. The network has one weight per rank, with an input
    that is 1 on that rank and 0 elsewhere. Only that rank's gradient can therefore change the
    weight.
    """
    import numpy as np

    weights = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros", input_shape=(size,))
    network = keras.Sequential([weights])
    network.compile(optimizer=optimizer, loss="mse", run_eagerly=True)  # a graph is slow
    network.train_on_batch(np.eye(size, dtype=np.float32)[[rank]], np.ones((1, 1), np.float32))
    return int(np.count_nonzero(network.get_weights()[0]))
