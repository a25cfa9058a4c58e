"""Measure the value that a condition compares, and put values and thresholds into words."""

from collections.abc import Mapping
from typing import Any

from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import finished, run_that_counts
from autograder.measuring import interval
from autograder.measuring.interval import Measure, NotMeasured
from autograder.measuring.metrics import Value, metric_named
from autograder.records import Run
from autograder.settings.rubric_schema import Condition, Threshold
from autograder.wording import shown, with_unit


def metric_value(
    hand_in: HandIn, metric: str, name: str, run: Run, at: Mapping[str, Any], base: str | None
) -> Value:
    """Return a metric's value for a run or for all runs with its name. Speedups use `base`."""
    row = metric_named(metric)
    if row.all_runs:
        return row.function(finished(hand_in, name), at)
    if row.base and base is not None:
        return row.function(run_that_counts(hand_in, base), run)
    return row.function(run) if row.of_a_run else row.function(run, at)


def condition_value(hand_in: HandIn, condition: Condition, name: str) -> Value:
    """Return the condition's value for a run, or that value relative to another run's."""

    def value_of(name: str) -> Value:
        run = run_that_counts(hand_in, name)
        return metric_value(hand_in, condition.metric, name, run, condition.at, condition.base)

    value = value_of(name)
    other_name = condition.minus or condition.over
    if other_name is None or not isinstance(value, Measure):
        return value
    other = value_of(other_name)
    if not isinstance(other, Measure):
        raise NotMeasured(f"{condition.metric} is a word")
    return interval.difference(value, other) if condition.minus else interval.ratio(value, other)


def reference_key(condition: Condition, name: str) -> str:
    """Return the key of a measurement in a calibration file. It does not depend on labels."""
    words = condition.metric + "".join(f", {key} {value}" for key, value in condition.at.items())
    return f"{words} of {name}" + (f" over {condition.base}" if condition.base else "")


# --- in words -----------------------------------------------------------------------------------


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
    words = f"{threshold.factor:g} × " if threshold.factor != 1 else ""
    words += metric_named(threshold.metric).label if threshold.metric else ""
    words += f" of `{threshold.of}`" if threshold.of not in (None, name) else ""
    return words + (f" {threshold.plus:+g}" if threshold.plus else "")


def as_text(value: Value) -> str:
    """Return the value as text: a word, or a number with its unit and interval."""
    if isinstance(value, str):
        return value
    number = with_unit(value.value, value.unit)
    if value.low == value.high:
        return number
    return f"{number} [{shown(value.low)}, {shown(value.high)}]"
