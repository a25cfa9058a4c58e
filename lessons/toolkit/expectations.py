"""Compare this run's measurements with the values that a lesson promises.

Other work on the machine changes measured times. A measurement outside its range can therefore mean
a busy machine or a mistake. Repeated measurements show whether the cause is a busy machine or a
mistake.
"""

import math
import textwrap
from collections.abc import Sequence
from statistics import median
from typing import Any, Literal

from autograder.measuring.interval import Measure
from autograder.wording import shown

Outcome = Literal["expected", "busy", "below", "above", "not measured"]
AGAIN = "Submit the job again when the machine is idle: course.submit(…, again=True)."


def compare(
    what: str,
    measured: Measure | float | Sequence[float],
    between: tuple[float, float],
    unit: str = "",
    **words: Any,
) -> None:
    """Print whether a measurement is in the promised range. `words` are passed to `assess`."""
    _, text = assess(what, measured, between, unit, **words)
    print(textwrap.fill(text, 90, subsequent_indent="  "))


def assess(
    what: str,
    measured: Measure | float | Sequence[float],
    between: tuple[float, float],
    unit: str = "",
    *,
    below: str = "",
    above: str = "",
    again: str = AGAIN,
    counted: bool = False,
) -> tuple[Outcome, str]:
    """Return whether a measurement is in the promised range, and a text with possible causes.

    `measured` is a Measure, a number, or a list of repeats. `between` has the lowest and the
    highest value that the page promises. `below` and `above` name the usual causes of other values.
    `counted` values, such as bytes, do not depend on what else the machine does.
    """
    value, low, high = interval_of(measured)
    if math.isnan(value):  # such as the bytes of NCCL
        return "not measured", f"{what}: not measured here."
    outcome = outcome_of(value, low, high, between)
    spread = "" if low == high else f" ({shown(low)} to {shown(high)})"
    said = f"{shown(value)}{f' {unit}' if unit else ''}{spread}"
    promised = f"{shown(between[0])} to {shown(between[1])}{f' {unit}' if unit else ''}"
    cause = {"below": below, "above": above}.get(outcome, "")
    sentences = {
        "expected": f"{said}, as expected ({promised}).",
        "busy": f"{said}. Expected: {promised}. Your machine was too busy to show it. {again}",
    }
    doubt = f"{cause} Or your machine was busy." if cause else "Perhaps your machine was busy."
    if counted:
        doubt, again = cause, ""
    otherwise = f"{said}. Expected: {promised}. {doubt} {again}"
    return outcome, " ".join(f"{what}: {sentences.get(outcome, otherwise)}".split())


def interval_of(measured: Measure | float | Sequence[float]) -> tuple[float, float, float]:
    """Return the value, its lowest possible value and its highest possible value."""
    if isinstance(measured, Measure):
        return measured.value, measured.low, measured.high
    if isinstance(measured, Sequence):
        return median(measured), min(measured), max(measured)
    return measured, measured, measured


def outcome_of(value: float, low: float, high: float, between: tuple[float, float]) -> Outcome:
    """Return the outcome: "busy" if repeats vary too much or reach a range the median misses.

    Repeats vary too much if they differ by more than the width of the promised range.
    """
    least, most = between
    width = most - least
    if least <= value <= most and high - low <= 2 * width:
        return "expected"
    if high - low > width or (low <= most and high >= least):
        return "busy"
    return "below" if value < least else "above"
