"""Recompute one real training step in each epoch of Keras's `fit`, with Horovod.

drawn_steps.py does the same for PyTorch.

This module binds the functions that communicate when it is imported, before a student's code can
replace them. The package does not import this module, because it needs TensorFlow and Horovod.
"""

import secrets
from typing import Any

import numpy as np
import tensorflow as tf
from horovod.tensorflow import Max, allreduce, broadcast_object

from lessons.toolkit.probes.updates import length_ratio

keras: Any = tf.keras


class DrawnSteps(keras.callbacks.Callback):
    """A callback that watches one step of each epoch, which it draws at random.

    Every rank creates one before `fit`, after compiling the model. images: the number of images
    that each rank reads in an epoch.
    """

    def __init__(self, model: Any, images: int, batch_size: int) -> None:
        super().__init__()
        self._supports_tf_logs = True  # so Keras need not convert them after every step
        # In Keras 3, which a student may use by mistake, clone_model would copy the optimizer, too.
        self.twin = type(model).from_config(model.get_config())
        self.full_batches = max(1, images // batch_size)
        self.worst: np.ndarray | None = None
        shape = tf.TensorShape([None, *model.input_shape[1:]])
        self.images = tf.Variable(np.zeros((0, *shape[1:]), np.float32), shape=shape)
        self.labels = tf.Variable(np.zeros(0, np.int64), shape=tf.TensorShape([None]))
        keras_step = model.train_step

        def train_step(batch: Any) -> Any:
            self.images.assign(tf.cast(batch[0], tf.float32))
            self.labels.assign(tf.cast(batch[1], tf.int64))
            return keras_step(batch)

        model.train_step = train_step

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.drawn = broadcast_object(secrets.randbelow(self.full_batches), name="drawn")

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if batch == self.drawn:
            self.before = self.model.get_weights()
            self.moments = [np.array(values) for values in variables_of(self.model.optimizer)]

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch == self.drawn:
            self.after = flat(self.model.get_weights())
            self.batch = tf.identity(self.images), tf.identity(self.labels)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Recompute the drawn step."""
        images, labels = self.batch
        self.twin.set_weights(self.before)
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(labels, self.twin(images))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, self.twin.trainable_variables)
        mean = [allreduce(each, name=f"drawn.{n}") for n, each in enumerate(gradients)]
        right = self.updated(mean)
        error = length_ratio(self.after - right, right - flat(self.before))
        high, low = (
            allreduce(extreme, op=Max, name=f"drawn.extreme.{n}").numpy()
            for n, extreme in enumerate((self.after, -self.after))
        )
        found = np.nan_to_num([error, float((high + low).max())], nan=np.inf, posinf=np.inf)
        worst = allreduce(found, op=Max, name="drawn.worst").numpy()
        self.worst = worst if self.worst is None else np.maximum(self.worst, worst)

    def updated(self, gradients: Any) -> np.ndarray:
        """Return the parameters after Keras's optimizer has applied the mean gradient."""
        params = self.twin.trainable_variables
        optimizer = class_of_keras(self.model.optimizer).from_config(
            self.model.optimizer.get_config()
        )
        if hasattr(optimizer, "build"):
            optimizer.build(params)
        else:  # one of keras.optimizers.legacy
            optimizer._create_all_weights(params)
        if any(values.ndim for values in self.moments):  # otherwise this is the first step
            for ours, theirs in zip(variables_of(optimizer), self.moments, strict=True):
                ours.assign(theirs)
        optimizer.apply_gradients(zip(gradients, params, strict=True))
        return flat(self.twin.get_weights())

    def measures(self) -> dict[str, float]:
        """Return the worst value of each measure, over all ranks and epochs.

        drawn_error: the relative error of the update. drawn_spread: the largest difference between
        two ranks in any parameter, right after the step.
        """
        if self.worst is None:
            return {}
        return dict(zip(("drawn_error", "drawn_spread"), map(float, self.worst), strict=True))


def class_of_keras(optimizer: Any) -> Any:
    """Return Keras's own class, from which Horovod or a student derived this optimizer's class."""
    kinds = type(optimizer).__mro__
    return next(kind for kind in kinds if kind.__module__.split(".")[0] in ("tf_keras", "keras"))


def variables_of(optimizer: Any) -> Any:
    # Horovod's own property fails with Keras 3. In older optimizers, this is a method.
    variables = class_of_keras(optimizer).variables.__get__(optimizer)
    return variables() if callable(variables) else variables


def flat(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])
