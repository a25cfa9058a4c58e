"""The recorder of the programs that do not use Run yet."""

import atexit
import contextlib
import os
import platform
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from lessons.toolkit.record.launches import launcher, run_id
from lessons.toolkit.record.run_record import (
    RECORD_VERSION,
    Chain,
    device,
    keras_accuracy,
    scheduler,
    short,
    synchronise,
    write as write_line,
)


def framework(source: str) -> str:
    """Return the framework in use, if it is loaded. If both are loaded, `source` decides."""
    loaded = [name for name in ("tensorflow", "torch") if name in sys.modules]
    if len(loaded) == 2:
        return "torch" if "torch" in source else "tensorflow"
    return loaded[0] if loaded else "numpy" if "numpy" in sys.modules else "python"


def write(lines: list[str]) -> None:
    for line in lines:
        write_line(line)


class RunRecord:
    """A writer of a run's events. Rank 0 writes most of them; every rank writes its start and end.

    source: which of your programs or variants this is. samples: distinct training samples per
    epoch. run: eight hex digits that the ranks share, if no launcher in LAUNCHERS started them.
    facts: other header facts, such as local_batch, epochs_asked, lr, seed, params and dataset.
    """

    def __init__(
        self,
        lesson: str,
        *,
        source: str,
        rank: int = 0,
        size: int = 1,
        local_rank: int = 0,
        samples: int | None = None,
        run: str | None = None,
        **facts: Any,
    ) -> None:
        self.rank, self.size, self.local_rank = int(rank), int(size), int(local_rank)
        self.started, self.epochs, self.ended = time.monotonic(), 0, False
        self.clock: EpochClock | None = None  # clock of the last epoch
        data, batch = facts.get("dataset") or {}, facts.get("local_batch")
        self.samples = data.get("train_samples") if samples is None else samples
        self.test_samples = data.get("test_samples")
        self.header = {
            "lesson": lesson,
            "program": os.path.basename(sys.argv[0]),
            "source": source,
            "record_version": RECORD_VERSION,
            "framework": framework(source),
            "world_size": self.size,
            "global_batch": batch and batch * self.size,
            **facts,
        }
        self.chain = Chain(run or run_id(os.environ, self.size), self.rank)
        write(self.first_lines())
        atexit.register(self.abort)

    def first_lines(self) -> list[str]:
        lines = [] if self.rank else [self.point("header", self.header)]
        if self.rank == 0:
            machine = self.machine() | {"started": datetime.now(UTC).isoformat(timespec="seconds")}
            lines += [self.point("machine", machine), *self.program_lines()]
        return [*lines, self.point("rank", self.presence())]

    def machine(self) -> dict[str, Any]:
        job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID")
        return {
            "versions": {"python": platform.python_version()},
            "launcher": launcher(os.environ) if self.size > 1 else "none",
            "scheduler": scheduler(os.environ),
            "job_id": job,
            "hosts": [socket.gethostname()] if self.size == 1 else None,  # each rank has its own
            "device": device(self.header["framework"]),
        }

    def presence(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it starts."""
        here = {"rank": self.rank, "local_rank": self.local_rank, "host": socket.gethostname()}
        used = {"device": device(self.header["framework"]), "samples": self.samples}
        return here | used | {"shard_ids_hash": None}

    def program_lines(self) -> list[str]:
        """Return the record lines that describe the program's files.

        Only the course's record has such lines.
        """
        return []

    def point(self, key: str, value: Any, **metadata: Any) -> str:
        return self.chain.line("POINT_IN_TIME", key, value, **metadata)

    @contextlib.contextmanager
    def epoch(self, steps: int | None = None, samples: int | None = None) -> Iterator[Any]:
        """Time the training of one epoch.

        Keep evaluation and checkpoints outside the `with` block.
        """
        clock = self.start_epoch(steps, samples)
        yield clock
        clock.stop()

    def start_epoch(self, steps: int | None = None, samples: int | None = None) -> Any:
        """Start an epoch without `with`. The caller stops the returned clock."""
        self.epochs += 1
        self.clock = self.new_clock(steps, self.samples if samples is None else samples)
        return self.clock

    def new_clock(self, steps: int | None, samples: int | None) -> Any:
        return EpochClock(self, steps, samples)

    def keras_callback(self) -> Any:
        """Return the record as a Keras callback."""
        return keras_callback(KerasMethods, self)

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
            metadata |= {"split": split, "loss": short(loss), "samples": samples}
            write([self.point("eval_accuracy", short(accuracy), **metadata)])

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        """Record any other number; keywords identify its point, as in measure(…, bytes=4096)."""
        if self.rank == 0:
            write([self.point("measure", {"name": name, "value": value, "unit": unit, **point})])

    def end(self, *, test_accuracy: Any = None, test_loss: Any = None, **summary: Any) -> None:
        """End the record. Call this last, on every rank."""
        if self.ended:
            return
        self.ended = True
        atexit.unregister(self.abort)
        if test_accuracy is not None:
            self.evaluated(test_accuracy, loss=test_loss, split="test", samples=self.test_samples)
        lines = [] if self.rank else self.program_lines()
        lines.append(self.point("rank_end", self.last_facts()))
        if self.rank == 0:
            found = {"test_accuracy": short(test_accuracy), "test_loss": short(test_loss)}
            lines.append(self.stop_line("success", found | summary))
        write(lines)

    def last_facts(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it ends."""
        facts = {"rank": self.rank, "samples": self.samples}
        facts |= {"param_hash": None, "files_written": None}
        if self.clock is not None:  # facts of this rank's last epoch
            facts |= {"steps": self.clock.steps, "loss": short(self.clock.logged.get("loss"))}
        return facts

    def stop_line(self, status: str, summary: Mapping[str, Any]) -> str:
        value = {"seconds": round(time.monotonic() - self.started, 6), **summary}
        return self.chain.line("INTERVAL_END", "run_stop", value, status=status)

    def abort(self) -> None:
        """If an exception ended the program, record that on rank 0."""
        if self.rank == 0 and not self.ended and getattr(sys, "last_value", None) is not None:
            write([self.stop_line("aborted", {"reason": type(sys.last_value).__name__})])


class EpochClock:
    """The clock of one epoch, which stops while the program does something other than training."""

    def __init__(self, record: RunRecord, steps: int | None, samples: int | None) -> None:
        self.record, self.number = record, record.epochs
        self.steps, self.samples = steps, samples
        self.logged: dict[str, Any] = {}
        self.write("INTERVAL_START", "epoch_start", None)
        self.seconds = 0.0
        self.running_since: float | None = None
        self.resume()

    def write(self, event_type: str, key: str, value: Any) -> None:
        if self.record.rank == 0:
            write([self.record.chain.line(event_type, key, value, epoch_num=self.number)])

    def log(self, **values: Any) -> None:
        """Store this epoch's loss, accuracy, lr, steps or samples."""
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

    def stop(self, **more: Any) -> None:
        self.pause()
        batch, unique = self.record.header["global_batch"], self.samples
        if unique is not None and self.steps is not None and batch:
            unique = min(unique, self.steps * batch)
        value = {"seconds": round(self.seconds, 6), "steps": self.steps, "unique_samples": unique}
        value |= {"loss": None, "accuracy": None, "lr": self.record.header.get("lr"), **more}
        value |= {name: short(number) for name, number in self.logged.items()}
        self.write("INTERVAL_END", "epoch_stop", value)


class KerasMethods:
    """A Keras callback's methods.

    No method is called for every batch, because that would slow Keras down.
    """

    params: Any

    def __init__(self, record: Any) -> None:
        super().__init__()
        self.record = record
        self.epoch: Any = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = self.record.start_epoch()

    def on_test_begin(self, logs: Any = None) -> None:
        if self.epoch:  # during validation inside fit
            self.epoch.pause()

    def on_test_end(self, logs: Any = None) -> None:
        if self.epoch:
            self.epoch.resume()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = dict(logs or {})
        self.epoch.log(steps=self.steps(), loss=logs.get("loss"), accuracy=keras_accuracy(logs))
        self.epoch.stop()
        if (value := keras_accuracy(logs, "val_")) is not None:
            self.record.evaluated(value, loss=logs.get("val_loss"), epoch=self.epoch.number)
        self.epoch = None

    def steps(self) -> int | None:
        return (self.params or {}).get("steps")


def keras_callback(methods: type, *values: Any) -> Any:
    # The class can be derived only after Keras is loaded, from the Keras that the program uses.
    keras: Any = sys.modules.get("tf_keras") or sys.modules.get("keras")
    if keras is None:
        raise RuntimeError("record.keras_callback() needs Keras: import Keras before.")
    return type("RecordCallback", (methods, keras.callbacks.Callback), {})(*values)
