"""The two sides of a condition: the measured value and the threshold."""

from dataclasses import replace
from typing import Any

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.in_words import reference_key, title_of
from autograder.judging.runs_that_count import finished, run_that_counts
from autograder.measuring import interval, measure
from autograder.measuring.interval import Measure, NotMeasured, exact
from autograder.measuring.metrics import Value, metric_named
from autograder.records import Run
from autograder.settings import calibration
from autograder.settings.rubric_schema import Condition, Threshold


def metric_value(
    hand_in: HandIn, metric: str, name: str, run: Run, at: dict[str, Any], base: str | None = None
) -> Value:
    """Return the value of a metric for a run or for all runs with its name. Speedups use `base`."""
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


def threshold_value(
    hand_in: HandIn, threshold: Threshold, condition: Condition, name: str
) -> Value:
    """Return the threshold for the run with this name.

    `threshold` is either the threshold for full credit or one of those for partial credit.
    """
    fixed = threshold.fixed(hand_in.profile)
    if isinstance(fixed, str):
        return fixed
    if threshold.of_reference is not None:
        return _of_reference(hand_in, threshold, condition, name)
    if fixed is not None:
        value: Value = exact(fixed)
    else:
        other = threshold.of or name
        run = run_that_counts(hand_in, other)
        value = metric_value(hand_in, threshold.metric or "", other, run, {})
    if not isinstance(value, Measure):
        return value
    return moved(interval.scaled(value, threshold.factor), threshold.plus)


def reference_of(hand_in: HandIn, condition: Condition, name: str) -> Measure | None:
    """Return the value that the solution reaches on this site with the same number of workers."""
    run = interval.measured_or_none(run_that_counts, hand_in, name)
    workers = measure.workers(run) if run else None
    return calibration.reference(hand_in.references, reference_key(condition, name), workers)


def _of_reference(
    hand_in: HandIn, threshold: Threshold, condition: Condition, name: str
) -> Measure:
    """Return a fraction of the solution's value on this site, without an interval."""
    reference = reference_of(hand_in, condition, name)
    if reference is None or threshold.of_reference is None:
        raise NotMeasured(
            f"the solution has not been measured on this site: {title_of(condition)}",
            "instructor: run `autograder calibrate`, and name its file in class.yaml",
            code=ReasonCode.NOT_CALIBRATED,
        )
    value = threshold.of_reference * reference.value + threshold.plus
    return exact(value, reference.unit, reference.where, reference.basis)


def moved(value: Measure, by: float) -> Measure:
    rounding = value.rounding and (value.rounding[0] + by, value.rounding[1] + by)
    return replace(
        value, value=value.value + by, low=value.low + by, high=value.high + by, rounding=rounding
    )
