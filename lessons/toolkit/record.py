"""The run record: one tagged JSON line for each event of a training run (docs/run-record.md).

    record = Record("02", args, source="keras", params=…, dataset=mnist.facts)
    model.fit(…, callbacks=[record.keras_callback()])
    record.end(test_loss=loss, test_accuracy=accuracy, params=model.get_weights())

A plain loop says `with record.epoch(steps=…) as epoch: … epoch.log(loss=…, accuracy=…)` instead of
the callback. With several ranks every rank makes a Record and ends it.
"""

import atexit
import hashlib
import itertools
import os
import socket
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from lessons.toolkit import facts, mllog

RECORD_VERSION = 1
NUMBERS = itertools.count()  # a second record of the same process is another run


class Record:
    """Writes a run's events; rank 0 most of them, every rank that it took part and that it ended.

    args: the program's argparse namespace, from which epochs, batch_size, lr, seed and model come.
    samples: distinct training samples an epoch of all ranks together; default: the data set's.
    shard: this rank's share, as (start, stop, step) or as indices or names; default: everything.
    facts: any other fact of the header, or one that args does not tell right.
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
        **header: Any,
    ) -> None:
        self.rank, self.size = int(rank), int(size)
        self.started = time.monotonic()
        self.samples = samples if samples is not None else (dataset or {}).get("train_samples")
        self.test_samples = (dataset or {}).get("test_samples")
        self.epochs = 0
        self.ended = False

        asked = dict(args) if isinstance(args, Mapping) else dict(vars(args)) if args else {}
        known: dict[str, Any] = {
            "lesson": lesson,
            "program": os.path.basename(sys.argv[0]),
            "source": source,
            "record_version": RECORD_VERSION,
            "framework": facts.framework(source),
            "model": asked.get("model"),
            "params": params,
            "precision": asked.get("precision", "float32"),
            "world_size": self.size,
            "ranks_asked": facts.ranks_asked(os.environ),
            "scaling": asked.get("scaling", "serial" if self.size == 1 else "epoch"),
            "local_batch": asked.get("batch_size"),
            "optimizer": asked.get("optimizer"),
            "lr": asked.get("lr"),
            "lr_base": asked.get("lr"),
            "seed": asked.get("seed"),
            "epochs_asked": asked.get("epochs"),
            "dataset": dataset,
        } | header
        self.local_batch = known["local_batch"]
        if "global_batch" not in known:
            known["global_batch"] = self.local_batch and self.local_batch * self.size
        self.global_batch = known["global_batch"]
        self.lr = known["lr"] = short(known["lr"])

        number = next(NUMBERS)
        run = facts.launch_id(os.environ, self.size)
        if number:
            run = hashlib.blake2b(f"{run} {number}".encode()).hexdigest()[:8]
        self.chain = mllog.Chain(run, self.rank)
        self.share = share(shard, self.samples)
        which = known["framework"]
        name = facts.device(which)
        lines = []
        if self.rank == 0:
            here = facts.machine(which, os.environ) | {"device": name}
            here["started"] = datetime.now(UTC).isoformat(timespec="seconds")
            lines.append(self.point("header", known))
            lines.append(self.point("machine", here))
        number_of_device = facts.device_number(which, os.environ)
        present = {
            "rank": self.rank,
            "local_rank": int(local_rank),
            "host": socket.gethostname(),
            "device": f"{name} #{number_of_device}" if number_of_device else name,
            **self.share,
        }
        mllog.write([*lines, self.point("rank", present)])
        atexit.register(self.abort)

    def point(self, key: str, value: Any, **metadata: Any) -> str:
        return self.chain.line("POINT_IN_TIME", key, value, **metadata)

    @contextmanager
    def epoch(self, steps: int | None = None, samples: int | None = None) -> Iterator["Epoch"]:
        """Times the training of one epoch; evaluation and checkpoints belong outside of it."""
        epoch = Epoch(self, steps, samples)
        yield epoch
        epoch.stop()

    def keras_callback(self) -> Any:
        """The same as a Keras callback; put callbacks that write checkpoints after it."""
        from lessons.toolkit.record_keras import make_callback

        return make_callback(self)

    def evaluated(
        self,
        accuracy: float,
        *,
        loss: float | None = None,
        split: str = "validation",
        samples: int | None = None,
        epoch: int | None = None,
    ) -> None:
        """Accuracy on samples that were not trained on."""
        if self.rank == 0:
            metadata: dict[str, Any] = {} if epoch is None else {"epoch_num": epoch}
            metadata |= {"split": split, "loss": short(loss), "samples": samples}
            mllog.write([self.point("eval_accuracy", short(accuracy), **metadata)])

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        """Any other measured number, with what names the point: measure(…, bytes=4096)."""
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
        """Last of all, on every rank. params: the trained parameters, to be hashed."""
        if self.ended:
            return
        self.ended = True
        atexit.unregister(self.abort)
        if test_accuracy is not None:
            self.evaluated(test_accuracy, loss=test_loss, split="test", samples=self.test_samples)
        last = {
            "rank": self.rank,
            "param_hash": None if params is None else param_hash(params),
            "samples": self.share["samples"],
            "files_written": files_written,
        }
        lines = [self.point("rank_end", last)]
        if self.rank == 0:
            summary = {
                "test_accuracy": short(test_accuracy),
                "test_loss": short(test_loss),
                "param_spread": param_spread,
                "files_written": files_written,
                **more,
            }
            lines.append(self.stop_line("success", summary))
        mllog.write(lines)

    def stop_line(self, status: str, summary: Mapping[str, Any]) -> str:
        value = {"seconds": round(time.monotonic() - self.started, 6), **summary}
        return self.chain.line("INTERVAL_END", "run_stop", value, status=status)

    def abort(self) -> None:
        """At the program's end: if an exception ended it, rank 0 says so."""
        if self.rank == 0 and not self.ended and getattr(sys, "last_value", None) is not None:
            reason = type(sys.last_value).__name__
            mllog.write([self.stop_line("aborted", {"reason": reason})])


class Epoch:
    """The clock of one epoch. Rank 0 writes its two lines; the other ranks only keep step."""

    def __init__(self, record: Record, steps: int | None, samples: int | None) -> None:
        self.record = record
        self.steps = steps
        self.samples = samples if samples is not None else record.samples
        self.logged: dict[str, Any] = {}
        record.epochs += 1
        self.number = record.epochs
        if record.rank == 0:
            start = record.chain.line("INTERVAL_START", "epoch_start", None, epoch_num=self.number)
            mllog.write([start])
        self.seconds = 0.0
        self.running_since: float | None = None
        self.resume()

    def log(self, **values: Any) -> None:
        """loss, accuracy, lr, steps, samples of this epoch."""
        self.steps = values.pop("steps", self.steps)
        self.samples = values.pop("samples", self.samples)
        self.logged |= values

    def pause(self) -> None:
        if self.running_since is not None:
            synchronise()
            self.seconds += time.monotonic() - self.running_since
            self.running_since = None

    def resume(self) -> None:
        synchronise()
        self.running_since = time.monotonic()

    def stop(self) -> None:
        self.pause()
        unique = self.samples
        if unique is not None and self.steps is not None and self.record.global_batch:
            unique = min(unique, self.steps * self.record.global_batch)
        value = {
            "seconds": round(self.seconds, 6),
            "steps": self.steps,
            "unique_samples": unique,
            "loss": None,
            "accuracy": None,
            "lr": self.record.lr,
        } | {name: short(value) for name, value in self.logged.items()}
        if self.record.rank == 0:
            chain = self.record.chain
            mllog.write([chain.line("INTERVAL_END", "epoch_stop", value, epoch_num=self.number)])


def synchronise() -> None:
    """Wait until the GPUs in use have done what they were given; on a CPU nothing is pending."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and tensorflow.config.get_visible_devices("GPU"):
        tensorflow.test.experimental.sync_devices()


def short(value: Any) -> Any:
    """A number without the digits that float32 does not have."""
    value = mllog.plain(value)
    return float(f"{value:.7g}") if isinstance(value, float) else value


def share(shard: Iterable[Any] | None, samples: int | None) -> dict[str, Any]:
    """How much a rank reads, and a hash of which; the shard itself too if it is a slice."""
    if shard is None:
        return {"samples": samples, "shard_ids_hash": None if samples is None else "all"}
    if isinstance(shard, tuple | slice):
        start, stop, step = (
            (shard.start, shard.stop, shard.step) if isinstance(shard, slice) else shard
        )
        stop = samples if stop is None else stop
        if stop is None:
            raise ValueError("Record(shard=(start, None, step)) needs a dataset or samples=.")
        slice_ = [int(start or 0), int(stop), int(step or 1)]
        return {**ids_hash(list(range(*slice_)), samples), "shard": slice_}
    ids = sorted(set(mllog.plain(shard if hasattr(shard, "tolist") else list(shard))))
    found = ids_hash(ids, samples)
    if found["shard_ids_hash"] != "all" and (slices := blocks(ids)):
        found["slices"] = slices
    return found


def ids_hash(ids: list[Any], samples: int | None) -> dict[str, Any]:
    if ids == list(range(samples or 0)):
        return {"samples": len(ids), "shard_ids_hash": "all"}
    if all(isinstance(item, int) for item in ids):
        data = array("q", ids).tobytes()
    else:
        data = "\n".join(map(str, ids)).encode()
    return {"samples": len(ids), "shard_ids_hash": hashlib.blake2b(data).hexdigest()[:16]}


def blocks(ids: list[Any], most: int = 32) -> list[list[int]] | None:
    """Sorted indices as [start, stop, 1] of each block of neighbours; None if they are too many."""
    found: list[list[int]] = []
    for number in ids:
        if not isinstance(number, int):
            return None
        if found and number == found[-1][1]:
            found[-1][1] += 1
        elif len(found) == most:
            return None
        else:
            found.append([number, number + 1, 1])
    return found


def param_hash(params: Any) -> str:
    """Hash of the bytes of all parameters: arrays, tensors, or a dictionary of them, in order."""
    digest = hashlib.blake2b()
    for value in params.values() if isinstance(params, Mapping) else params:
        digest.update(array_bytes(value))
    return digest.hexdigest()[:16]


def array_bytes(value: Any) -> bytes:
    if hasattr(value, "detach"):  # torch; through uint8, for NumPy has no bfloat16
        torch = sys.modules["torch"]
        value = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return value.numpy().tobytes() if hasattr(value, "numpy") else value.tobytes()
