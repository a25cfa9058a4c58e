"""The clock of one epoch, which stops while the program does something other than training."""

import sys
import time
from typing import Any

from lessons.toolkit.record import mllog
from lessons.toolkit.record.reading import what_was_read


class EpochClock:
    """A clock that writes the epoch's two lines to the chain.

    Without a chain (on ranks above 0) it only counts. `samples`: distinct training samples of the
    epoch. `lr`: the rate, if log() does not report one.
    """

    def __init__(
        self,
        number: int,
        chain: mllog.Chain | None,
        *,
        steps: int | None,
        samples: int | None,
        global_batch: int | None,
        lr: float | None,
    ) -> None:
        self.number = number
        self.chain = chain
        self.steps = steps
        self.samples = samples
        self.global_batch = global_batch
        self.lr = lr
        self.logged: dict[str, Any] = {}
        self.indices: list[Any] = []
        self.write("INTERVAL_START", "epoch_start", None)
        self.seconds = 0.0
        self.running_since: float | None = None
        self.resume()

    def write(self, event_type: str, key: str, value: Any) -> None:
        if self.chain is not None:
            mllog.write([self.chain.line(event_type, key, value, epoch_num=self.number)])

    def log(self, **values: Any) -> None:
        """Store loss, accuracy, lr, steps or samples of this epoch."""
        self.steps = values.pop("steps", self.steps)
        self.samples = values.pop("samples", self.samples)
        self.logged |= values

    def read(self, indices: Any) -> None:
        """Store the training samples of one step, by index.

        They are counted when the clock stops.
        """
        self.indices.append(indices)

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
        read = what_was_read(self.indices)
        unique = read["distinct"] if read else self.samples
        if unique is not None and self.steps is not None and self.global_batch:
            unique = min(unique, self.steps * self.global_batch)
        value = {
            "seconds": round(self.seconds, 6),
            "steps": self.steps,
            "unique_samples": unique,
            "loss": None,
            "accuracy": None,
            "lr": self.lr,
            **({"read": read} if read else {}),
        } | {name: mllog.short(value) for name, value in self.logged.items()}
        self.write("INTERVAL_END", "epoch_stop", value)


def synchronise() -> None:
    """Wait until the GPUs in use have finished their work. A CPU has no pending work."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and tensorflow.config.get_visible_devices("GPU"):
        tensorflow.test.experimental.sync_devices()
