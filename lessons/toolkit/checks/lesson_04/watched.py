"""Watch lesson 04's pipeline while it runs: its stages, and what it decodes when."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, shown

Function = Callable[..., Any]
PIECES, EACH, SIZE, BATCH = 12, 5, 8, 8
ASSIGN = "Each stage returns a new data set, which has to be assigned: `dataset = dataset.…`."


class Watched:
    """Test data in packs of five samples, with a decoder that counts its calls."""

    def __init__(self, stages: Function, **changed: Any) -> None:
        import tensorflow as tf

        self.calls = 0
        options = {"workers": 2, "cache": True, "buffer": 60, "size": SIZE} | changed
        self.args = SimpleNamespace(batch_size=BATCH, prefetch=changed.get("prefetch", True))
        vars(self.args).update(options)
        try:
            self.batches = stages(tf.data.Dataset.range(PIECES), self.decode, self.args)
        except ValueError as error:
            if "dimensions" not in str(error):
                raise
            raise CheckFailed(
                "prepare gets single images",
                "all images of a pack in one element",
                "decode returns all samples of a pack together: unbatch() separates them. "
                f"{ASSIGN}",
            ) from None
        if not isinstance(self.batches, tf.data.Dataset):
            advice = "Is there a `return` in front of it?" if self.batches is None else ""
            raise CheckFailed(
                "stages returns a tf.data.Dataset",
                shown(self.batches),
                advice or "Chain the stages as method calls: dataset.map(…).unbatch()….",
            )

    def decode(self, piece: Any) -> Any:
        import tensorflow as tf

        def counted(value: Any) -> Any:
            self.calls += 1
            return value

        piece = tf.numpy_function(counted, [piece], tf.int64)
        piece.set_shape([])
        numbers = piece * EACH + tf.range(EACH, dtype=tf.int64)
        images = tf.cast(tf.broadcast_to(numbers[:, None, None, None], (EACH, 32, 32, 3)), tf.uint8)
        return images, tf.stack([numbers % 10, numbers], axis=1)

    def epoch(self) -> list[list[int]]:
        """Return the indices of an epoch's samples, batch by batch."""
        found = []
        for batch in self.batches:
            images, marks = batch
            if images.shape[1:] != (SIZE, SIZE, 3) or len(images) > BATCH:
                raise CheckFailed(
                    f"batches of {BATCH} images, {SIZE} × {SIZE} × 3",
                    f"{tuple(images.shape)}",
                    "unbatch() makes samples of what decode returns; prepare(…, args.size, "
                    f"args.batch_size) makes batches of samples. {ASSIGN}",
                )
            found.append([int(number) for number in marks[:, 1]])
        return found

    def stages(self) -> Iterator[Any]:
        """Yield the data set of each stage, from the last to the first."""
        dataset = self.batches
        while dataset is not None:
            yield dataset
            inputs = dataset._inputs()
            dataset = inputs[0] if inputs else None

    def stage_names(self) -> list[str]:
        """Return TensorFlow's names for the stages, from the last to the first."""
        return [type(stage).__name__ for stage in self.stages()]

    def caches_floats(self) -> bool:
        """Return whether a cache stores the output of `prepare` instead of the original bytes."""
        import tensorflow as tf

        caches = [stage for stage in self.stages() if "Cache" in type(stage).__name__]
        kept = [tf.nest.flatten(cache.element_spec)[0] for cache in caches]
        return any(spec.dtype.is_floating for spec in kept)
