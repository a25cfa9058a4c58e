"""Extend RunRecord to the course's run record, with everything else that the toolkit measures."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lessons.toolkit.record import devices, facts, program
from lessons.toolkit.record.epoch_clock import CountingClock
from lessons.toolkit.record.header import header, refuse_zeros, settings
from lessons.toolkit.record.keras_callback import CallbackMethods
from lessons.toolkit.record.parameters import arrays, changed, moved, param_hash, spread
from lessons.toolkit.record.reading import labels_of
from lessons.toolkit.record.recorder import RunRecord, keras_callback
from lessons.toolkit.record.run_record import short
from lessons.toolkit.record.shares import share


class Record(RunRecord):
    """A writer of a run's events.

    Rank 0 writes most of them. Every rank records that it takes part, and that it has ended.

    args: the program's argparse namespace, for epochs, batch_size, lr, seed and model.

    samples: distinct training samples per epoch of all ranks together; default: the data set's.

    shard: this rank's share, as (start, stop, step) or as indices or names; default: everything.

    labels: the classes of this rank's share, to be counted.

    built: the param_hash of this rank's parameters before all ranks get the same ones.

    more: other facts of the header, or facts that args do not report correctly.
    """

    def __init__(
        self,
        lesson: str,
        args: Any = None,
        *,
        source: str,
        params: int | None = None,
        dataset: Mapping[str, Any] | None = None,
        rank: int = 0,
        size: int = 1,
        local_rank: int = 0,
        samples: int | None = None,
        shard: Iterable[Any] | None = None,
        labels: Any = None,
        built: str | None = None,
        **more: Any,
    ) -> None:
        refuse_zeros(settings(args), rank)
        if not gc.get_freeze_count():
            # The objects of a framework stay until the end. Checking all of them once more
            # when the process ends takes most of a second.
            gc.freeze()
        self.program, self.told = program.main_hash(), set[str]()
        self.before: list[Any] | None = None  # hash of the parameters that training began with
        self.seen: dict[str, Any] = {}  # facts of the parameters, right after the last step
        # Numbers of the images that a Keras epoch reads, batch by batch.
        self.numbers: list[Any] = []
        self.start_hash: str | None = None
        self.files_written: int | None = None
        self.shard, self.labels, self.built = shard, labels, built
        known = header(settings(args), int(size), {"params": params, "dataset": dataset, **more})
        super().__init__(
            lesson,
            source=source,
            rank=rank,
            size=size,
            local_rank=local_rank,
            samples=samples,
            **known,
        )

    def machine(self) -> dict[str, Any]:
        return facts.machine(self.header["framework"], os.environ)

    def presence(self) -> dict[str, Any]:
        self.share = share(self.shard, self.samples)
        if self.labels is not None:
            self.share["labels"] = labels_of(self.labels)
        if self.built is not None:
            self.share["built_hash"] = self.built
        return super().presence() | {"device": self.device(), **self.share}

    def device(self) -> str:
        return devices.device_and_number(self.header["framework"], os.environ)

    def program_lines(self) -> list[str]:
        told = list(program.later_values(self.told) if self.ended else self.first_files())
        self.told.update(name for value in told for name in value["files"])
        return [self.point("program", value) for value in told]

    def first_files(self) -> Iterator[dict[str, Any]]:
        return program.first_values()

    def new_clock(self, steps: int | None, samples: int | None) -> CountingClock:
        return CountingClock(self, steps, samples)

    def keras_callback(self, gather: Callable[[Any], Any] | None = None) -> Any:
        """Return the record as a Keras callback that calls `begin` and `trained` itself.

        Put callbacks that write checkpoints after this one. `gather`: see `trained`.
        """
        return keras_callback(CallbackMethods, self, gather)

    def labelled(self, batches: Any, images: Any, labels: Any, look_at: int = 4) -> Any:
        """Return labelled batches for Keras, and count the samples that are read.

        `batches` come from a tf.data pipeline, in which each image has its index in the data set
        (images, labels). Each index is replaced by its label. First, a few batches are compared
        with the data set's images.
        """
        from lessons.toolkit.record.pictures import with_labels

        for pictures, numbers in batches.take(look_at):
            self.look_at(pictures, numbers, images)
        return with_labels(batches, labels, self.numbers)

    def look_at(
        self, batch: Any, numbers: Any, images: Any, found: Any = None, labels: Any = None
    ) -> None:
        """Compare a batch with the data set's images at these indices.

        `found` are the labels that came with the batch; they are compared with the data set's
        labels.
        """
        from lessons.toolkit.record.pictures import labels_right, pixels_away

        self.measure("pixels_away", pixels_away(batch, numbers, images), "")
        if found is not None:
            self.measure("labels_right", labels_right(found, numbers, labels), "")

    def begin(self, params: Any) -> None:
        """Record the initial parameters of the training.

        Call it on every rank, right before the first step.
        """
        if self.start_hash is None:
            params = [array.copy() for array in arrays(params)]
            self.start_hash = param_hash(params)
            self.before = params if self.rank == 0 else None

    def trained(self, params: Any, gather: Callable[[Any], Any] | None = None) -> None:
        """Record the trained parameters.

        Call it on every rank, right after the last step. `gather` is the collective that collects a
        row from every rank (hvd.allgather, comm.allgather). `gather` is needed to compare the
        ranks' parameters.
        """
        params = list(arrays(params))
        self.seen = {"param_hash": param_hash(params)}
        if self.before is not None:
            self.seen["param_moved"] = short(moved(self.before, params))
            self.seen["params_changed"] = changed(self.before, params)
        if gather is not None:
            self.seen["param_spread"] = spread(params, gather)

    def end(
        self,
        *,
        test_accuracy: float | None = None,
        test_loss: float | None = None,
        params: Any = None,
        param_spread: float | None = None,
        files_written: int | None = None,
        **more: Any,
    ) -> None:
        """End the record. Call this last, on every rank.

        `params`: the trained parameters, if trained() was not called. `param_spread`: the program's
        own result, if trained() got no collective.
        """
        if self.ended:
            return
        if params is not None and not self.seen:
            self.trained(params)
        self.files_written = files_written
        summary = {
            "param_moved": self.seen.get("param_moved"),
            "params_changed": self.seen.get("params_changed"),
            "param_spread": self.seen.get("param_spread", param_spread),
            "files_written": files_written,
        }
        super().end(test_accuracy=test_accuracy, test_loss=test_loss, **summary, **more)

    def last_facts(self) -> dict[str, Any]:
        return super().last_facts() | {
            "start_hash": self.start_hash,
            "param_hash": self.seen.get("param_hash"),
            "samples": self.share["samples"],
            "files_written": self.files_written,
            "program": self.program,
        }
