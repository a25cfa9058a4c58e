"""The course's run record as a Keras callback, for Keras 3 and for tf_keras."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lessons.toolkit.record import run_record

FLOOR = 1e-30  # smallest probability, before its logarithm is taken


class RunMethods(run_record.KerasMethods):
    """The methods of a Run's callback, with facts that only the course records."""

    replicas: Sequence[float] = ()  # the number of images of each one, if validation has begun

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        if self.model.built and self.run.start_hash is None:
            self.run.begin()
            for kind, count in layers(self.model).items():
                self.run.measure("layers", count, "layers", kind=kind)
            if self.run.header["lesson"] == "02":  # the only one that asks for it
                self.run.measure("bend", bend(self.model))

    def on_test_begin(self, logs: Any = None) -> None:
        if self.is_training:  # validation counts its own images
            self.replicas = images_of_replicas(self.model)
        super().on_test_begin(logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        images, self.replicas = self.replicas or images_of_replicas(self.model), ()
        self.run.images = int(sum(images)) or None
        if self.run.images and len(images) > 1:
            self.run.measure("least_busy_replica", min(images) * len(images) / sum(images))
        super().on_epoch_end(epoch, logs)


def network_facts(model: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the size of a Keras network's images, and its copies if replicas were requested."""
    shape = getattr(model, "input_shape", None)
    facts = {"image_size": shape[1]} if isinstance(shape, tuple) and len(shape) == 4 else {}
    if "replicas_asked" in more:
        made = model.optimizer.variables  # in older optimizers, this is a method
        variables = [*model.variables, *(made() if callable(made) else made)]
        facts |= {"replicas": min(map(len, map(copies, variables))), "scaling": "epoch"}
    return facts


def copies(variable: Any) -> Sequence[Any]:
    """Return a variable's copies on the replicas of tf.distribute; else the variable alone."""
    found = getattr(variable, "values", None)
    return found if isinstance(found, tuple) else (variable,)


def layers(model: Any) -> Counter[str]:
    """Return the number of layers with parameters, by kind, including those of nested networks."""
    found: Counter[str] = Counter()
    for layer in model.layers:
        if hasattr(layer, "layers"):
            found += layers(layer)
        elif layer.weights:
            found[type(layer).__name__] += 1
    return found


def images_of_replicas(model: Any) -> list[float]:
    """Return each replica's images of the last epoch, which Keras counts for the mean loss."""
    count = getattr(model.metrics[0], "count", None) if model.metrics else None
    return [] if count is None else [float(copy.numpy()) for copy in copies(count)]


def bend(model: Any) -> float:
    """Measure how far a classifier is from a linear map, using the mean of two images.

    The scores of the mean image are compared with the mean of the two images' scores, relative to
    the difference between these scores. The result is 0 if all layers together are one linear map.
    """
    import numpy as np

    x, y = np.random.default_rng(1).normal(size=(2, 16, *model.input_shape[1:])).astype(np.float32)
    outputs = np.asarray(model(np.concatenate([x, y, (x + y) / 2])), dtype=np.float64)
    scores = np.log(np.maximum(outputs, FLOOR))
    one, other, middle = np.split(scores - scores.mean(axis=1, keepdims=True), 3)
    size = np.abs(one - other).max()
    return float(np.abs(middle - (one + other) / 2).max() / size) if size > 0 else 0.0
