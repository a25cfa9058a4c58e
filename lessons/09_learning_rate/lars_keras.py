"""LARS as an optimizer of Keras 2; with trust = 0 it is SGD with momentum, as in rates.py.

import after TF_USE_LEGACY_KERAS=1; hvd.DistributedOptimizer wraps it as any other.
"""

import tensorflow as tf


class LARS(tf.keras.optimizers.Optimizer):
    """An optimizer with speed <- momentum * speed + ratio * gradient; w <- w - lr * speed."""

    def __init__(self, learning_rate=0.1, momentum=0.9, trust=0.02, name="LARS", **options):
        super().__init__(name=name, **options)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum
        self.trust = trust

    def build(self, variables):
        super().build(variables)
        if not hasattr(self, "speeds"):  # called before every step
            self.speeds = [self.add_variable_from_reference(w, "speed") for w in variables]

    def update_step(self, gradient, variable):
        speed = self.speeds[self._index_dict[self._var_key(variable)]]
        if self.trust:
            w = tf.norm(variable)
            g = tf.norm(gradient)
            # A layer of zeros, such as a new bias, has no length to scale by.
            ratio = tf.where((w > 0) & (g > 0), tf.math.divide_no_nan(self.trust * w, g), 1.0)
            gradient = ratio * gradient
        speed.assign(self.momentum * speed + gradient)
        variable.assign_sub(tf.cast(self.learning_rate, variable.dtype) * speed)

    def get_config(self):
        return super().get_config() | {
            "learning_rate": self._serialize_hyperparameter(self._learning_rate),
            "momentum": self.momentum,
            "trust": self.trust,
        }
