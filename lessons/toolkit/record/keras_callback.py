"""The course's run record as a Keras callback, for Keras 3 and for tf_keras."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lessons.toolkit.record import run_record
from lessons.toolkit.record.parameters import worst

FLOOR = 1e-30  # smallest probability, before its logarithm is taken


class RunMethods(run_record.KerasMethods):
    """The methods of a Run's callback, with facts that only the course records."""

    counts_before: tuple[int, int] = (0, 0)
    replicas: Sequence[float] = ()  # the number of images that each one computed in the epoch

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        if self.model.built and self.run.start_hash is None:
            self.run.begin()
            for kind, count in layers(self.model).items():
                self.run.measure("layers", count, "layers", kind=kind)
            if self.run.header["lesson"] == "02":  # the only one that asks for it
                self.run.measure("bend", bend(self.model))

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.counts_before, self.replicas = step_counts(self.model), ()
        super().on_epoch_begin(epoch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        if self.is_training:  # validation counts its own images
            self.replicas = images_of_replicas(self.model)
        super().on_test_begin(logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.replicas = self.replicas or images_of_replicas(self.model)
        self.run.images = int(sum(self.replicas)) or None
        super().on_epoch_end(epoch, logs)

    def steps(self) -> int | None:
        return steps_since(self.counts_before, self.model, self.params or {})

    def on_train_end(self, logs: Any = None) -> None:
        if len(images := self.replicas) > 1:
            least = min(images) * len(images) / sum(images)
            self.run.measure("least_busy_replica", least)


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


def replicas_spread(model: Any) -> float:
    """Return the largest difference between two replicas in any parameter."""
    import numpy as np

    arrays = ([copy.numpy() for copy in copies(each)] for each in model.trainable_variables)
    return worst(float(np.ptp(each, axis=0).max()) for each in arrays)


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
    """Return the number of images that each replica computed in the last epoch.

    Keras counts them for the mean loss and has a copy of the counter on each device.
    """
    strategy = getattr(model, "distribute_strategy", None)  # Keras 3 has no such attribute
    count = getattr(model.metrics[0], "count", None) if model.metrics else None
    if count is None:
        return []
    if strategy is None:
        return [float(count.numpy())]
    return [float(copy.numpy()) for copy in strategy.experimental_local_results(count)]


def step_counts(model: Any) -> tuple[int, int]:
    """Return how many steps Keras 2 has finished, and how many its optimizer has begun.

    If the length of an epoch is unknown, the optimizer also counts the step that finds no more
    data. With Keras 3 and hand-written loops, only the optimizer's count exists.
    """
    counters = (
        getattr(model, "_train_counter", None),
        getattr(getattr(model, "optimizer", None), "iterations", None),
    )
    finished, begun = (0 if counter is None else int(counter.numpy()) for counter in counters)
    return finished, begun


def steps_since(before: tuple[int, int], model: Any, params: Mapping[str, Any]) -> int | None:
    """Return the steps since the counts in before, or None if Keras 3 does not know them yet."""
    pairs = zip(step_counts(model), before, strict=True)
    finished, begun = (now - then for now, then in pairs)
    if finished:
        return finished
    if "steps" in params and params["steps"] is None:
        return None  # The optimizer also counts the step that found no more data.
    # Without trainable parameters, the optimizer counts no steps.
    return begun or params.get("steps")


def bend(model: Any) -> float:
    """Measure how far a classifier is from a linear map, using the mean of two images.

    The scores of the mean image are compared with the mean of the two images' scores, relative to
    the difference between these scores. The result is 0 if all layers together are one linear map.
    """
    import numpy as np

    shape = model.input_shape[1:]
    images = np.random.default_rng(1).normal(size=(2, 16, *shape)).astype(np.float32)

    def scores(x: Any) -> Any:
        values = np.log(np.maximum(np.asarray(model(x), dtype=np.float64), FLOOR))
        return values - values.mean(axis=1, keepdims=True)

    one, other, middle = scores(images[0]), scores(images[1]), scores(images.mean(axis=0))
    size = np.abs(one - other).max()
    return float(np.abs(middle - (one + other) / 2).max() / size) if size > 0 else 0.0
