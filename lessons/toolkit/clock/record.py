"""The run record of a speed job.

The job's conductor writes the record, and its other processes report facts.
"""

import os
import sys
from pathlib import Path
from typing import Any

from lessons.toolkit.clock.workers import FailedError
from lessons.toolkit.record import Run
from lessons.toolkit.record.parameters import param_hash


class ConductorsRecord(Run):
    """A record with the files, the versions and the device of the processes that do the work."""

    def __init__(self, lesson: str, job: Any, hub: Any, ready: Any, header: dict[str, Any]) -> None:
        self.learner = ready["learner"]
        folder = Path(sys.argv[0]).parent
        names = {name for each in ready.values() for name in each["files"]}
        self.beside = {name: folder / name for name in sorted(names)}
        place = {"rank": job.rank, "size": job.size, "local_rank": job.local_rank}
        super().__init__(lesson, job.args, run=hub.share(os.urandom(4).hex()), **place, **header)
        self.tell_machine()

    def machine(self) -> dict[str, Any]:
        return super().machine() | {name: self.learner[name] for name in ("versions", "threads")}

    def device(self) -> tuple[str, str]:
        name, with_identity = self.learner["device"]
        return name, with_identity

    def end(self, **results: Any) -> None:
        """End the run. params= are this rank's at the end."""
        self.seen["param_hash"] = param_hash([results.pop("params")])
        super().end(**results)

    def take(self, measures: list[dict[str, Any]], allowed: frozenset[str]) -> None:
        """Record measures of the learner, whose student code may have added others to them."""
        for each in measures:
            if each["name"] not in allowed:
                raise FailedError(f"The learner sent the measure {each['name']!r}, unasked.")
            self.measure(**each)


class Kept:
    """Measures for a record that another process writes."""

    def __init__(self) -> None:
        self.measures: list[dict[str, Any]] = []

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        self.measures.append({"name": name, "value": value, "unit": unit, **point})
