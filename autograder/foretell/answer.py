"""Predict larger sizes as intervals: the value in its unit, the speedup and the efficiency."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autograder.foretell.table import Table, TableError
from autograder.measuring import laws
from autograder.measuring.interval import NotMeasured
from autograder.measuring.laws import Foretold


@dataclass(frozen=True, slots=True)
class Line:
    """The predicted interval for one size: in the table's unit, as speedup and as efficiency."""

    size: int
    value: tuple[float, float]
    speedup: tuple[float, float]
    efficiency: tuple[float, float]
    foretold: Foretold


def lines(table: Table, sizes: Sequence[int]) -> list[Line]:
    try:
        found = laws.foretell(table.study, sizes, table.per_node)
    except NotMeasured as missing:
        raise TableError(f"{table.file}: {missing.reason}") from None
    return [line_of(table, one) for one in found]


def line_of(table: Table, one: Foretold) -> Line:
    ideal = one.size / table.study.sizes[0]
    low, high = sorted(value_at(table, one.size, speedup) for speedup in (one.low, one.high))
    efficiency = one.low / ideal, one.high / ideal
    return Line(one.size, (low, high), (one.low, one.high), efficiency, one)


def value_at(table: Table, size: int, speedup: float) -> float:
    """Convert a speedup over the smallest size to a value in the table's unit."""
    first = table.study.sizes[0]
    cost = math.exp(table.study.costs[0]) * size / first / speedup
    if table.column == "seconds":
        return cost / (1 if table.scaling == "weak" else size)
    return size / cost


def measured_speedups(table: Table) -> list[tuple[int, float]]:
    """Return each row's size and its speedup over the median at the smallest size."""
    points = []
    for size, value in table.points:
        same = value_at(table, size, 1)
        gain = same / value if table.column == "seconds" else value / same
        points.append((size, gain))
    return points


def usual_sizes(table: Table) -> list[int]:
    return [table.study.sizes[-1] * times for times in (2, 4, 8)]


def drawn_sizes(table: Table, asked: Sequence[int]) -> list[int]:
    """Return sizes up to the largest requested one, evenly spaced on a logarithmic axis."""
    first, last = table.study.sizes[0], max(*asked, table.study.sizes[-1])
    return sorted({round(n) for n in np.geomspace(first, last, 40)} | set(asked))
