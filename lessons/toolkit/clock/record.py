"""The run record of a speed job.

The job's conductor writes the record, and its other processes report facts.
"""

import os
import sys
from pathlib import Path
from typing import Any

from lessons.toolkit.clock.workers import FailedError
from lessons.toolkit.record import Run, facts, program, run_record


class ConductorsRecord(Run):
    """A record with the files, the versions and the device of the processes that do the work."""

    def __init__(self, lesson: str, job: Any, ready: Any, header: dict[str, Any]) -> None:
        self.learner = ready["learner"]
        folder = Path(sys.argv[0]).parent
        names = {name for each in ready.values() for name in each["files"]}
        self.beside = {name: folder / name for name in sorted(names)}
        super().__init__(
            lesson,
            job.args,
            rank=job.rank,
            size=job.size,
            local_rank=job.local_rank,
            **header,
        )
        self.tell_machine()

    def machine(self) -> dict[str, Any]:
        mine = facts.machine("python", os.environ)
        return mine | {name: self.learner[name] for name in ("versions", "device", "threads")}

    def device(self) -> tuple[str, str]:
        return str(self.learner["device"]), str(self.learner["device_and_number"])

    def take(self, measures: list[dict[str, Any]], allowed: frozenset[str]) -> None:
        """Record measures of the learner, whose student code may have added others to them."""
        for each in measures:
            if each["name"] not in allowed:
                raise FailedError(f"The learner sent the measure {each['name']!r}, unasked.")
            self.measure(**each)

    def tell_machine(self) -> None:
        if self.machine_waits:
            run_record.Run.tell_machine(self)
            self.tell_program(program.first_values(self.beside))


class Kept:
    """Measures for a record that another process writes."""

    def __init__(self) -> None:
        self.measures: list[dict[str, Any]] = []

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        self.measures.append({"name": name, "value": value, "unit": unit, **point})
