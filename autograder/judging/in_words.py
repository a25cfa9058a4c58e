"""Describe in words what a condition requires and what was measured."""

from autograder.measuring.metrics import OWN, Value, metric_named
from autograder.settings.rubric_schema import Condition, Threshold
from autograder.wording import shown, with_unit

SYMBOLS = {"at_least": "≥", "at_most": "≤", "above": ">", "below": "<", "equal": "="}
AS_THRESHOLD = {"steps_expected": "samples / batch"}


def title_of(condition: Condition, name: str) -> str:
    """Return a title for the measurement, which is also its key in a calibration file."""
    label = condition.metric.removeprefix(OWN).replace("_", " ")
    label = label.removeprefix("study ") if condition.at else label
    label = metric_named(condition.metric).label or label
    label += "".join(f", {key} {value}" for key, value in condition.at.items())
    if condition.base:
        return f"{label} of {name} over {condition.base}"
    if condition.minus:
        return f"difference in {label} between {name} and {condition.minus}"
    if condition.over:
        return f"{label} of {name} over that of {condition.over}"
    return f"{label} of {name}"


def threshold_in_words(threshold: Threshold, name: str) -> str:
    """Describe a threshold that is relative to a missing value."""
    if threshold.of_reference is not None:
        return f"{threshold.of_reference:g} of what the solution reaches on this site"
    metric = threshold.metric or ""
    words = AS_THRESHOLD.get(metric, metric.replace("_", " ")) + f" of {threshold.of or name}"
    if threshold.factor != 1:
        words = f"{threshold.factor:g} × {words}"
    if threshold.plus:
        words += f" {'+' if threshold.plus > 0 else '−'} {abs(threshold.plus):g}"
    return words


def as_text(value: Value) -> str:
    """Return the value as text: a word, or a number with its unit and interval."""
    if isinstance(value, str):
        return value
    number = with_unit(value.value, value.unit)
    if value.low == value.high:
        return number
    return f"{number} [{shown(value.low)}, {shown(value.high)}]"
