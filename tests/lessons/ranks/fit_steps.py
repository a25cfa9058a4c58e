"""Train with each of these optimizers, and print what the drawn steps show.

python fit_steps.py
"""

import json
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

from lessons.toolkit.probes.drawn_fit import DrawnSteps

keras = tf.keras
Adam, Old = keras.optimizers.Adam, keras.optimizers.legacy.Adam
BATCH = 8


class Half(Adam):
    """Apply half of each gradient."""

    def apply_gradients(self, pairs, **more):
        super().apply_gradients([(gradient / 2, param) for gradient, param in pairs], **more)


class ToZero(Adam):
    """Forget each update."""

    def apply_gradients(self, pairs, **more):
        pairs = list(pairs)
        before = [tf.identity(param) for _, param in pairs]
        super().apply_gradients(pairs, **more)
        for (_, param), value in zip(pairs, before, strict=True):
            param.assign(value)


CASES = {
    "adam": (lambda: hvd.DistributedOptimizer(Adam(0.01)), 27),
    "legacy": (lambda: hvd.DistributedOptimizer(Old(0.01)), 27),
    "clipnorm": (lambda: hvd.DistributedOptimizer(Adam(0.01, clipnorm=0.1)), 27),
    "epsilon": (lambda: hvd.DistributedOptimizer(Adam(0.01, epsilon=1e-2)), 27),
    "sgd": (lambda: hvd.DistributedOptimizer(keras.optimizers.SGD(0.1, momentum=0.9)), 27),
    "less than a batch": (lambda: hvd.DistributedOptimizer(Adam(0.01)), 5),
    "half": (lambda: Half(0.01, epsilon=1.0), 27),
    "to zero": (lambda: ToZero(0.01), 27),
}
hvd.init()
for name, (optimizer, images) in CASES.items():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(4, activation="softmax", input_shape=(6,))])
    model.compile(optimizer(), "sparse_categorical_crossentropy", run_eagerly=name != "adam")
    drawn = DrawnSteps(model, images, BATCH)
    x, y = np.random.rand(images, 6), np.random.randint(0, 4, images)
    model.fit(x, y, batch_size=BATCH, epochs=3, verbose=0, callbacks=[drawn])
    print(json.dumps({"name": name, **drawn.measures()}))
