"""The class that writes a run's events."""

import atexit
import gc
import hashlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from lessons.toolkit.record import facts, mllog, program
from lessons.toolkit.record.epoch_clock import EpochClock
from lessons.toolkit.record.files import new_files
from lessons.toolkit.record.header import header, participant, settings
from lessons.toolkit.record.keras_callback import make_callback
from lessons.toolkit.record.parameters import arrays, changed, moved, param_hash, spread
from lessons.toolkit.record.reading import labels_of
from lessons.toolkit.record.shares import share

RECORDS = itertools.count()  # of this process


class Record:
    """A writer of a run's events.

    Rank 0 writes most of them. Every rank writes that it takes part and that it ends.

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
        if not gc.get_freeze_count():
            # The objects of a framework stay until the end. Checking all of them once more
            # when the process ends takes most of a second.
            gc.freeze()
        asked = settings(args)
        self.rank, self.size = int(rank), int(size)
        self.started = time.monotonic()
        self.samples = samples if samples is not None else (dataset or {}).get("train_samples")
        self.test_samples = (dataset or {}).get("test_samples")
        self.epochs = 0
        self.ended = False
        known = header(lesson, source, asked, self.size, params, dataset, more)
        self.global_batch, self.lr = known["global_batch"], known["lr"]
        self.share = share(shard, self.samples)
        self.program, self.told = program.main_hash(), set[str]()
        if labels is not None:
            self.share["labels"] = labels_of(labels)
        if built is not None:
            self.share["built_hash"] = built
        self.before: list[Any] | None = None  # hash of the parameters that training began with
        self.seen: dict[str, Any] = {}  # of the parameters, right after the last step
        self.numbers: list[Any] = []  # of the images that a Keras epoch reads, batch by batch
        self.start_hash: str | None = None
        self.clock: EpochClock | None = None  # of the last epoch
        self.files_found: int | None = None
        self.chain = mllog.Chain(run_id(self.size), self.rank)
        mllog.write(self.first_lines(known, int(local_rank)))
        atexit.register(self.abort)

    def first_lines(self, known: Mapping[str, Any], local_rank: int) -> list[str]:
        framework = known["framework"]
        lines = []
        if self.rank == 0:
            machine = facts.machine(framework, os.environ)
            machine["started"] = datetime.now(UTC).isoformat(timespec="seconds")
            lines += [self.point("header", known), self.point("machine", machine)]
            lines += self.program_lines(program.first_values())
        present = participant(self.rank, local_rank, framework, self.share)
        return [*lines, self.point("rank", present)]

    def point(self, key: str, value: Any, **metadata: Any) -> str:
        return self.chain.line("POINT_IN_TIME", key, value, **metadata)

    def program_lines(self, values: Iterable[dict[str, Any]]) -> list[str]:
        told = list(values)
        self.told.update(name for value in told for name in value["files"])
        return [self.point("program", value) for value in told]

    @contextmanager
    def epoch(self, steps: int | None = None, samples: int | None = None) -> Iterator[EpochClock]:
        """Time the training of one epoch. Evaluation and checkpoints belong outside the block."""
        clock = self.start_epoch(steps, samples)
        yield clock
        clock.stop()

    def start_epoch(self, steps: int | None = None, samples: int | None = None) -> EpochClock:
        """Start an epoch without `with`. The caller stops the returned clock."""
        self.epochs += 1
        self.clock = EpochClock(
            self.epochs,
            self.chain if self.rank == 0 else None,
            steps=steps,
            samples=samples if samples is not None else self.samples,
            global_batch=self.global_batch,
            lr=self.lr,
        )
        return self.clock

    def keras_callback(self, gather: Callable[[Any], Any] | None = None, bend: bool = False) -> Any:
        """Return the record as a Keras callback, which calls begin and trained itself.

        Put callbacks that write checkpoints after it. `gather`: see trained. `bend`: also measure
        how far the network is from a straight map (networks.py).
        """
        return make_callback(self, gather, bend)

    def labelled(self, batches: Any, images: Any, labels: Any, look_at: int = 4) -> Any:
        """Return labelled batches for Keras, and count the samples that are read.

        `batches` come from a tf.data pipeline, in which each image has its number in the data set
        (images, labels). Each number is replaced by its label. First, a few batches are compared
        with the data set's images.
        """
        from lessons.toolkit.record.pictures import with_labels

        for pictures, numbers in batches.take(look_at):
            self.look_at(pictures, numbers, images)
        return with_labels(batches, labels, self.numbers)

    def look_at(
        self, batch: Any, numbers: Any, images: Any, found: Any = None, labels: Any = None
    ) -> None:
        """Compare a batch with the data set's images of these numbers.

        `found` are the labels that came with the batch; they are compared with the data set's
        labels.
        """
        from lessons.toolkit.record.pictures import labels_right, pixels_away

        self.measure("pixels_away", pixels_away(batch, numbers, images), "")
        if found is not None:
            self.measure("labels_right", labels_right(found, numbers, labels), "")

    def begin(self, params: Any) -> None:
        """Record the parameters that training begins with.

        Call it on every rank, right before the first step.
        """
        if self.start_hash is None:
            params = [array.copy() for array in arrays(params)]
            self.start_hash = param_hash(params)
            self.before = params if self.rank == 0 else None

    def trained(self, params: Any, gather: Callable[[Any], Any] | None = None) -> None:
        """Record the trained parameters.

        Call it on every rank, right after the last step. `gather` is the collective that collects a
        row from every rank (hvd.allgather, comm.allgather). It is used to compare the ranks'
        parameters.
        """
        params = list(arrays(params))
        self.seen = {"param_hash": param_hash(params)}
        if self.before is not None:
            self.seen["param_moved"] = mllog.short(moved(self.before, params))
            self.seen["params_changed"] = changed(self.before, params)
        if gather is not None:
            self.seen["param_spread"] = spread(params, gather)

    @contextmanager
    def saving(
        self, folder: str | os.PathLike[str], gather: Callable[[Any], Any] | None = None
    ) -> Iterator[None]:
        """Count the files that the `with` block writes into the folder, on every rank.

        The last rank looks on the disk for new files. `gather`: see trained.
        """
        with new_files(folder, gather, looks=self.rank == self.size - 1) as found:
            yield
        self.files_found = max(found[0], self.files_found or 0)

    def evaluated(
        self,
        accuracy: float,
        *,
        loss: float | None = None,
        split: str = "validation",
        samples: int | None = None,
        epoch: int | None = None,
    ) -> None:
        """Record the accuracy on samples that are not trained on."""
        if self.rank == 0:
            metadata: dict[str, Any] = {} if epoch is None else {"epoch_num": epoch}
            metadata |= {"split": split, "loss": mllog.short(loss), "samples": samples}
            mllog.write([self.point("eval_accuracy", mllog.short(accuracy), **metadata)])

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        """Record any other number, with values that identify the point: measure(…, bytes=4096)."""
        if self.rank == 0:
            value = {"name": name, "value": value, "unit": unit, **point}
            mllog.write([self.point("measure", value)])

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
        """End the record: the last call, on every rank.

        `params`: the trained parameters, if trained() was not called. `param_spread`: the program's
        own result, if trained() got no collective.
        """
        if self.ended:
            return
        if params is not None and not self.seen:
            self.trained(params)
        self.ended = True
        atexit.unregister(self.abort)
        if test_accuracy is not None:
            self.evaluated(test_accuracy, loss=test_loss, split="test", samples=self.test_samples)
        last = {
            "rank": self.rank,
            "start_hash": self.start_hash,
            "param_hash": self.seen.get("param_hash"),
            "samples": self.share["samples"],
            "files_written": files_written,
            "program": self.program,
        }
        if self.clock is not None:  # its own, of its last epoch
            loss = mllog.short(self.clock.logged.get("loss"))
            last |= {"steps": self.clock.steps, "loss": loss}
        since = program.later_values(self.told) if self.rank == 0 else ()
        lines = [*self.program_lines(since), self.point("rank_end", last)]
        if self.rank == 0:
            summary = {
                "test_accuracy": mllog.short(test_accuracy),
                "test_loss": mllog.short(test_loss),
                "param_moved": self.seen.get("param_moved"),
                "params_changed": self.seen.get("params_changed"),
                "param_spread": self.seen.get("param_spread", param_spread),
                "files_written": files_written,
                **({} if self.files_found is None else {"files_found": self.files_found}),
                **more,
            }
            lines.append(self.stop_line("success", summary))
        mllog.write(lines)

    def stop_line(self, status: str, summary: Mapping[str, Any]) -> str:
        value = {"seconds": round(time.monotonic() - self.started, 6), **summary}
        return self.chain.line("INTERVAL_END", "run_stop", value, status=status)

    def abort(self) -> None:
        """Record, on rank 0 at the program's end, that an exception ended it."""
        if self.rank == 0 and not self.ended and getattr(sys, "last_value", None) is not None:
            reason = type(sys.last_value).__name__
            mllog.write([self.stop_line("aborted", {"reason": reason})])


def run_id(size: int) -> str:
    """Return the id of the launch. A second record of the same process gets another id."""
    launch, number = facts.launch_id(os.environ, size), next(RECORDS)
    return hashlib.blake2b(f"{launch} {number}".encode()).hexdigest()[:8] if number else launch
