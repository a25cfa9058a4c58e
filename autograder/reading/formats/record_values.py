"""Read the values in a run record's lines: its header, program, end, measures and shares."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from autograder.reading.printed_numbers import count
from autograder.records import (
    NO_HEADER,
    DataSet,
    Header,
    MeasureEvent,
    Program,
    Read,
    RunEnd,
    Where,
    plain_number,
)

Complain = Callable[[str, str], None]  # called with a fact's name and what is wrong with its value
LONGEST_TEXT, MOST_WORDS = 400, 1_000
TEXT = "a text"
MOST_FILES = 200
LONGEST_NAME, LONGEST_HASH = 200, 32
MOST_SLICES = 100  # per rank
MOST_CLASSES = 100

# [start, stop, step]. As in Python, a stop of null is the end of the data set.
Slice = tuple[int, int | None, int]


def text(value: Any) -> str | None:
    """Return the value as text.

    Values of other types are converted with `str`, so they never equal an expected text.
    """
    return str(value)[:LONGEST_TEXT] if value or value == "" else None


def only_text(value: Any) -> str | None:
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def boolean(value: Any) -> bool | None:
    return value if type(value) is bool else None


def words(value: Any) -> tuple[str, ...] | None:
    return tuple(map(str, value[:MOST_WORDS])) if type(value) is list else None


def arguments(value: Any) -> tuple[str, ...] | None:
    """Return a program's arguments, which must all be strings because reruns use them."""
    right = type(value) is list and all(type(word) is str for word in value)
    return tuple(value) if right else None


def job_id(value: Any) -> str | None:
    return str(value)[:64] if type(value) is str or type(value) is int else None


READ_AS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    str | None: (text, TEXT),
    float | None: (plain_number, "a number"),
    bool | None: (boolean, "true or false"),
    tuple[str, ...] | None: (words, "a list"),
}


def readers_of(kind: type) -> dict[str, tuple[Callable[[Any], Any], str]]:
    """Return, for each fact, the function that reads it and a description of its type."""
    return {fact.name: READ_AS[fact.type] for fact in fields(kind) if fact.type in READ_AS}


OF_HEADER = readers_of(Header) | {
    "job_id": (job_id, "a number or text"),
    "arguments": (arguments, "a list of texts"),
}
OF_DATASET = readers_of(DataSet)
OF_END = readers_of(RunEnd)


def typed(
    readers: Mapping[str, tuple[Callable[[Any], Any], str]],
    value: Mapping[str, Any],
    complain: Complain,
) -> dict[str, Any]:
    """Return the facts that have a value of the right type."""
    facts = {}
    for name, stated in value.items():
        if name in readers and stated is not None:
            read, kind = readers[name]
            facts[name] = read(stated)
            if facts[name] is None or (kind == TEXT and type(stated) is not str):
                complain(name, f"`{name}` should be {kind}, but is {stated!r:.40}")
    return facts


def header_of(value: Mapping[str, Any], complain: Complain) -> Header:
    """Return the header. Faulty facts are reported to `complain`."""
    facts = typed(OF_HEADER, value, complain)
    dataset = value.get("dataset")
    if isinstance(dataset, dict):
        facts["dataset"] = DataSet(**typed(OF_DATASET, dataset, complain))
    others = {name: fact for name, fact in value.items() if name not in OF_HEADER}
    others.pop("dataset", None)
    return Header(**facts, others=others) if value else NO_HEADER


def end_of(value: Mapping[str, Any], complain: Complain) -> RunEnd:
    """Return the run's end. Faulty facts are reported to `complain`."""
    facts = typed(OF_END, value, complain)
    if "checkpoint_hash" in value:
        facts.setdefault("checkpoint_hash", "")
    return RunEnd(**facts)


def measure_of(
    value: Mapping[str, Any], where: Where | None = None, written_ms: float | None = None
) -> MeasureEvent:
    name, unit = text(value.get("name")) or "", text(value.get("unit")) or ""
    return MeasureEvent(name, plain_number(value.get("value")), unit, value, where, written_ms)


def with_files(known: Program | None, value: dict[str, Any]) -> Program:
    """Return the program with the facts of one more line added.

    If a fact is stated twice, the first statement counts.
    """
    if known is None:
        known = Program(only_text(value.get("main")), a_hash(value.get("toolkit")))
    files, stated = dict(known.files), value.get("files")
    for name, hash_ in stated.items() if isinstance(stated, dict) else ():
        if len(files) < MOST_FILES:
            files.setdefault(name[:LONGEST_NAME], a_hash(hash_))
    return replace(known, files=files)


def a_hash(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_HASH else None


def slice_of(value: Any) -> Slice | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    start, stop, step = count(value[0]), count(value[1]), count(value[2], 1)
    wrong = start is None or step is None or (stop is None and value[1] is not None)
    return None if wrong else (start, stop, step)  # type: ignore[return-value]


def slices_of(value: Any) -> tuple[Slice, ...] | None:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_SLICES:
        return None
    parts = tuple(part for one in value if (part := slice_of(one)))
    return parts if len(parts) == len(value) else None


def counts(value: Any) -> tuple[int, ...] | None:
    """Return the number of samples of each class."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_CLASSES:
        return None
    numbers = [count(item) for item in value]
    return None if None in numbers else tuple(numbers)  # type: ignore[arg-type]


def what_was_read(value: Any) -> Read | None:
    if not isinstance(value, dict) or not isinstance(value.get("order"), str):
        return None
    most = count(value.get("most"))
    return None if most is None else Read(most, value["order"][:64])
