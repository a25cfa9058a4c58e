"""Describe in words what a condition requires and what was measured."""

from autograder.measuring.interval import Measure
from autograder.measuring.labels import OWN
from autograder.measuring.metrics import Value, metric_named
from autograder.settings.rubric_schema import Condition, Threshold
from autograder.wording import shown, with_unit

SYMBOLS = {"at_least": "≥", "at_most": "≤", "above": ">", "below": "<"}
# The names that calibration files have for metrics which once had them as labels.
REFERENCE_WORDS = {"rounds_share": "share of the ceiling", "rounds_speedup": "speedup"}


def reference_key(condition: Condition, name: str) -> str:
    """Return the key of a measurement in a calibration file. It does not depend on labels."""
    words = condition.metric.removeprefix(OWN).replace("_", " ")
    words = words.removeprefix("study ") if condition.at else words
    words = REFERENCE_WORDS.get(condition.metric, words)
    words += "".join(f", {key} {value}" for key, value in condition.at.items())
    return f"{words} of {name}" + (f" over {condition.base}" if condition.base else "")


def title_of(condition: Condition) -> str:
    """Return the label for what a condition measures, without the name of the run."""
    label = metric_named(condition.metric).label
    label += "".join(f", {key} {value}" for key, value in condition.at.items())
    if condition.base:
        return f"{label} over `{condition.base}`"
    if condition.minus:
        return f"{label}, difference to `{condition.minus}`"
    return f"{label} / that of `{condition.over}`" if condition.over else label


def said_of_run(title: str, text: str, name: str, basis: str = "") -> str:
    """Return a sentence such as "steps per epoch: 400 steps (run `numpy`)"."""
    return f"{title}: {text} (run `{name}`{', ' if basis else ''}{basis})"


def threshold_in_words(threshold: Threshold, name: str) -> str:
    """Describe a threshold that depends on a missing value."""
    if threshold.of_reference is not None:
        return f"{threshold.of_reference:g} of what the solution reaches on this site"
    words = metric_named(threshold.metric).label if threshold.metric else ""
    words += f" of `{threshold.of}`" if threshold.of not in (None, name) else ""
    if threshold.factor != 1:
        words = f"{threshold.factor:g} × {words}"
    if threshold.plus:
        words += f" {'+' if threshold.plus > 0 else '−'} {abs(threshold.plus):g}"
    return words


def limit_as_text(limit: Value, condition: Condition) -> str:
    """Return a threshold as text, with the unit of the measurement."""
    if isinstance(limit, str) or condition.over:
        return as_text(limit)
    unit = metric_named(condition.metric).unit
    return as_text(Measure(limit.value, limit.low, limit.high, unit))


def as_text(value: Value) -> str:
    """Return the value as text: a word, or a number with its unit and interval."""
    if isinstance(value, str):
        return value
    number = with_unit(value.value, value.unit)
    if value.low == value.high:
        return number
    return f"{number} [{shown(value.low)}, {shown(value.high)}]"
