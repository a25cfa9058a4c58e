"""Read which slices of the data set each rank reads, in the record's format."""

from typing import Any

from autograder.reading.printed_numbers import count
from autograder.records import Read

MOST_SLICES = 100  # per rank
MOST_CLASSES = 100

# [start, stop, step]. As in Python, a stop of null is the end of the data set.
Slice = tuple[int, int | None, int]


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
