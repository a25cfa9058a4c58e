"""Runs for tests, from the plain JSON that a run record would hold."""

from typing import Any

from autograder.reading.formats.record_header import end_of, header_of, measure_of
from autograder.records import MeasureEvent, Run


def make_run(*args: Any, header: dict | None = None, end: dict | None = None, **more: Any) -> Run:
    """Return a run whose header, end and measures are read from dictionaries."""
    more["measures"] = make_measures(more.get("measures", ()))
    return Run(*args, header=header_of(header or {}), end=end_of(end or {}), **more)


def make_measures(measures) -> tuple[MeasureEvent, ...]:
    return tuple(map(measure_of, measures))
