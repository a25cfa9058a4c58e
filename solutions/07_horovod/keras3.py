"""Keras 3 and Horovod: an optimizer that silently does not average, and a cure.

mpirun -np 2 python keras3.py
"""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_USE_LEGACY_KERAS"] = "0"  # the only program of the lessons that needs Keras 3

import horovod.tensorflow.keras as hvd
import keras
import numpy as np
import tensorflow as tf
from horovod.tensorflow import broadcast_variables, grouped_allreduce

from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run


class AveragingAdam(keras.optimizers.Adam):
    """An Adam that averages gradients in `apply`, which Keras 3 calls with them."""

    def apply(self, grads, trainable_variables=None):
        return super().apply(grouped_allreduce(grads), trainable_variables)


def spread_after_training(optimizer):
    """Train 20 steps on the rank's own data. Return the largest difference between ranks."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            keras.layers.Flatten(),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=optimizer,
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,  # on GPUs Keras 3 compiles with XLA, which lacks Horovod's operations
    )
    broadcast_variables([variable.value for variable in model.variables], root_rank=0)
    rng = np.random.default_rng(hvd.rank())
    images = rng.random((640, 28, 28))
    labels = rng.integers(0, 10, 640)
    model.fit(images, labels, batch_size=32, verbose=0)
    weights = np.concatenate([w.ravel() for w in model.get_weights()])
    return float(np.ptp(hvd.allgather(weights[np.newaxis]), axis=0).max())


def main():
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    enough_gpus(len(gpus))
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    run = Run("07", source="keras3")
    rate = 0.001 * hvd.size()
    optimizers = {
        "hvd.DistributedOptimizer": hvd.DistributedOptimizer(keras.optimizers.Adam(rate)),
        "AveragingAdam": AveragingAdam(rate),
    }
    for name, optimizer in optimizers.items():
        spread = spread_after_training(optimizer)
        run.measure("keras3_spread", spread, optimizer=name)
        if hvd.rank() == 0:
            print(f"{name}: parameters differ by up to {spread:.4f}")
    run.end()


if __name__ == "__main__":
    main()
