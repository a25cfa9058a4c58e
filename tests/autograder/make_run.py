"""Runs for tests, from the plain JSON that a run record would hold."""

from typing import Any

from autograder.reading.formats.record_values import header_of, measure_of, typed
from autograder.records import Header, MeasureEvent, Run, RunEnd


def make_run(*args: Any, header: dict | None = None, end: dict | None = None, **more: Any) -> Run:
    """Return a run whose header, end and measures are read from dictionaries."""
    more["measures"] = make_measures(more.get("measures", ()))
    return Run(*args, header=make_header(header or {}), end=make_end(end or {}), **more)


def make_header(facts: dict) -> Header:
    return header_of(facts, ignore)


def make_end(facts: dict) -> RunEnd:
    return RunEnd(**typed(RunEnd, facts, ignore))


def ignore(name: str, reason: str) -> None:
    """Ignore problems, because some tests give a fact a type other than the documented one."""


def make_measures(measures) -> tuple[MeasureEvent, ...]:
    return tuple(map(measure_of, measures))
