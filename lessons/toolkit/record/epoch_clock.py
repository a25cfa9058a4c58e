"""The clock of one epoch, which can also count the samples that the steps read."""

from typing import Any

from lessons.toolkit.record.reading import what_was_read
from lessons.toolkit.record.recorder import EpochClock
from lessons.toolkit.record.run_record import synchronise

__all__ = ["CountingClock", "synchronise"]


class CountingClock(EpochClock):
    """A clock that is given the indices of the samples of each step."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.indices: list[Any] = []

    def read(self, indices: Any) -> None:
        """Store the training samples of one step, by index.

        The samples are counted when the clock stops.
        """
        self.indices.append(indices)

    def stop(self, **more: Any) -> None:
        self.pause()
        if read := what_was_read(self.indices):
            self.samples, more = read["distinct"], {**more, "read": read}
        super().stop(**more)
