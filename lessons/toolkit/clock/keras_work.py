"""A Keras network that a process of a speed job trains on random images."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from lessons.toolkit.record.run_record import synchronise


class KerasWork:
    """See `serve.Work`.

    `optimizer` is Keras's Adam, or an optimizer that first averages gradients.
    """

    def __init__(self, model: Any, optimizer: Any, args: Any) -> None:
        self.model, self.optimizer, self.batch_size = model, optimizer, args.batch_size
        self.params = model.trainable_variables
        self.size = sum(int(np.prod(param.shape)) for param in self.params)
        self.counted = model.count_params()
        optimizer.jit_compile = False  # no XLA, as in the lessons' programs
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer.build(self.params)  # otherwise the graph is made twice
        self.train_on = tf.function(self.minimize)
        self.train_on.get_concrete_function(*next(self.batches(0, 1)))  # on all ranks at once

    @property
    def lr(self) -> float:
        return float(self.optimizer.learning_rate)

    def batches(self, seed: int, steps: int) -> Iterator[Any]:
        for number in range(steps):
            both = tf.constant([seed, number], tf.int64)
            images = tf.random.stateless_uniform((self.batch_size, 32, 32, 3), both)
            labels = tf.random.stateless_uniform((self.batch_size,), both, 0, 10, tf.int64)
            yield images, labels

    def minimize(self, images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            value = self.loss(labels, self.model(images, training=True))
        self.optimizer.minimize(value, self.params, tape=tape)

    def train(self, seed: int, steps: int) -> None:
        for batch in self.batches(seed, steps):
            self.train_on(*batch)
        synchronise()

    def values(self, places: Any) -> Any:
        return flat(self.params)[places]

    def state(self) -> tuple[list[float], list[Any]]:
        """Return Adam's step count and learning rate, and the parameters and moments.

        If a student has chosen another optimizer, there are no moments.
        """
        nothing = [tf.zeros_like(param) for param in self.params]
        names = ("_momentums", "_velocities")
        moments = [getattr(self.optimizer, name, nothing) for name in names]
        adam = [int(self.optimizer.iterations), self.lr]
        return adam, [flat(arrays) for arrays in (self.params, *moments)]

    def load(self, adam: list[float], state: Any) -> None:
        self.optimizer.iterations.assign(int(adam[0]))
        self.optimizer.learning_rate = adam[1]
        kept = (self.params, self.optimizer._momentums, self.optimizer._velocities)
        for variables, part in zip(kept, np.split(state, 3), strict=True):
            for variable, value in zip(variables, self.cut(part), strict=True):
                variable.assign(value)

    def gradient(self, batch: Any) -> Any:
        # Without tf.function: making a graph takes longer than it saves in a few steps.
        images, labels = batch
        with tf.GradientTape() as tape:
            value = self.loss(labels, self.model(images, training=True))
        return flat(tape.gradient(value, self.params))

    def apply(self, gradient: Any) -> None:
        self.optimizer.apply_gradients(zip(self.cut(gradient), self.params, strict=True))

    def cut(self, array: Any) -> list[Any]:
        """Split a flat array into arrays with the parameters' shapes."""
        ends = np.cumsum([int(np.prod(param.shape)) for param in self.params])
        pieces = np.split(array, ends[:-1])
        return [
            piece.reshape(param.shape) for piece, param in zip(pieces, self.params, strict=True)
        ]


def flat(tensors: list[Any]) -> Any:
    return np.concatenate([tensor.numpy().reshape(-1) for tensor in tensors])
