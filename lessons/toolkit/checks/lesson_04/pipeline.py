"""Check the input pipeline of an epoch (4.3): watch its stages, and what it decodes when."""

import itertools
from types import SimpleNamespace
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, Function, exercise, shown

PIECES, EACH, SIZE, BATCH, WORKERS, BUFFER = 12, 5, 8, 8, 3, 61
ASSIGN = "Each stage returns a new data set, which has to be assigned: `dataset = dataset.…`."


@exercise("4.3")
def check_4_3(stages: Function) -> str:
    """Each epoch reads every sample once, in a new order.

    Each sample is decoded only once, ahead of time.
    """
    everything = list(range(PIECES * EACH))
    watched = Watched(stages)
    flat = watched.epoch()
    if sorted(flat) != everything:
        expected = f"{len(everything)} samples per epoch, each once"
        found = f"{len(flat)}, and {len(set(flat))} different ones"
        raise CheckFailed(expected, found, "No stage may drop or repeat samples.")
    decoded = watched.calls
    second = watched.epoch()
    if watched.calls != decoded:
        raise CheckFailed(
            "with --cache the decoder is not called in epoch 2",
            f"called {watched.calls - decoded} times more",
            f"cache() keeps the output of the stages before it. Which one costs most? {ASSIGN}",
        )
    if watched.caches_floats():
        raise CheckFailed(
            "a cache of single images, as bytes",
            "a cache of what prepare() makes: finished batches of floats",
            "cache() comes after prepare(), so the batches are always the same, and take 9.8 GB "
            "at 128 × 128. Which stage costs most, and which must differ in each epoch?",
        )
    if flat == everything:
        advice = f"A stage is missing, or has no effect. {ASSIGN}"
        raise CheckFailed("samples in random order", "0, 1, 2, …", advice)
    if second == flat:
        raise CheckFailed(
            "a different order in epoch 2 than in epoch 1",
            "the same in every epoch",
            "cache() keeps what the stages before it made, also what should be new in each epoch.",
        )
    stay = sum(b - a == 1 and b % EACH > 0 for a, b in itertools.pairwise(flat))
    if stay > PIECES * (EACH - 1) // 2:
        expected, found = "samples of a pack far apart", f"{stay} of them follow their neighbour"
        advice = "Shuffle single samples, neither packs nor batches."
        raise CheckFailed(expected, found, advice)
    check_switches(stages)
    return "Samples are decoded once, shuffled again in every epoch, and prepared ahead of time."


def check_switches(stages: Function) -> None:
    watched = Watched(stages, cache=False)
    for _ in range(2):
        watched.epoch()
    if watched.calls != 2 * PIECES:
        expected = "without --cache the decoder is called in every epoch"
        advice = "Reading the files can only be timed if nothing is kept. Who asks for a cache?"
        raise CheckFailed(expected, f"{watched.calls} calls in two epochs", advice)
    names = [type(stage).__name__ for stage in watched.stages]
    if "Prefetch" not in names[0]:
        advice = f"prefetch() prepares its input in advance, and training takes batches. {ASSIGN}"
        raise CheckFailed("prefetch as the last stage", names[0].strip("_"), advice)
    workers = [
        int(getattr(stage, "_num_parallel_calls", WORKERS)) for stage in watched.of("ParallelMap")
    ]
    if WORKERS not in workers:
        expected = f"map decodes {WORKERS} packs at once for {WORKERS} workers"
        advice = "What does the table say about `map`? Which of the arguments is that number?"
        raise CheckFailed(expected, shown(workers) if workers else "no parallel map", advice)
    buffers = [int(getattr(stage, "_buffer_size", BUFFER)) for stage in watched.of("Shuffle")]
    if BUFFER not in buffers:
        advice = "Which of the arguments says how many samples the buffer holds?"
        raise CheckFailed(f"a buffer of {BUFFER} samples", shown(buffers), advice)
    without = Watched(stages, prefetch=False).stages
    if any("Prefetch" in type(stage).__name__ for stage in without):
        advice = "What prefetch does can only be seen without it. Who asks for it?"
        raise CheckFailed("no prefetch with --no-prefetch", "prefetch", advice)


class Watched:
    """Test data in packs of five samples, with a decoder that counts its calls."""

    def __init__(self, stages: Function, cache: bool = True, prefetch: bool = True) -> None:
        import tensorflow as tf

        self.calls = 0
        args = SimpleNamespace(
            batch_size=BATCH,
            workers=WORKERS,
            buffer=BUFFER,
            size=SIZE,
            cache=cache,
            prefetch=prefetch,
        )
        try:
            self.batches = stages(tf.data.Dataset.range(PIECES), self.decode, args)
        except ValueError as error:
            if "dimensions" not in str(error):
                raise
            advice = f"decode returns all samples of a pack together: unbatch() them. {ASSIGN}"
            found = "all images of a pack in one element"
            raise CheckFailed("prepare gets single images", found, advice) from None
        if not isinstance(self.batches, tf.data.Dataset):
            advice = "Is there a `return` in front of it?"
            raise CheckFailed("stages returns a tf.data.Dataset", shown(self.batches), advice)

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

    def epoch(self) -> list[int]:
        """Return the indices of an epoch's samples."""
        found = []
        for images, marks in self.batches:
            if images.shape[1:] != (SIZE, SIZE, 3) or len(images) > BATCH:
                raise CheckFailed(
                    f"batches of {BATCH} images, {SIZE} × {SIZE} × 3",
                    f"{tuple(images.shape)}",
                    "One stage makes samples of what decode returns, and another makes batches. "
                    f"{ASSIGN}",
                )
            found += [int(number) for number in marks[:, 1]]
        return found

    @property
    def stages(self) -> list[Any]:
        """Return the data set of each stage, from the last to the first."""
        stages = [self.batches]
        while inputs := stages[-1]._inputs():
            stages.append(inputs[0])
        return stages

    def of(self, kind: str) -> list[Any]:
        return [stage for stage in self.stages if kind in type(stage).__name__]

    def caches_floats(self) -> bool:
        """Return whether a cache stores the output of `prepare` instead of the original bytes."""
        import tensorflow as tf

        kept = [tf.nest.flatten(cache.element_spec)[0] for cache in self.of("Cache")]
        return any(spec.dtype.is_floating for spec in kept)
