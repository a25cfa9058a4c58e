"""Judge a condition: measure each value once, give the credit, then say it in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from autograder.codes import CheckStatus, ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import finished, larger_unfinished, run_that_counts
from autograder.measuring import interval, measure
from autograder.measuring.interval import Measure, NotMeasured, attempt, measured_or_none
from autograder.measuring.metrics import OWN, Value, metric_named
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings import calibration
from autograder.settings.rubric_schema import Condition, Threshold, tolerance
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED, Part
from autograder.wording import shown, with_unit

RUN_AGAIN = (
    "The machine was busy, or the repeats differ too much. Run this job again when fewer other "
    "programs run there, and submit its output as well."
)
SYMBOLS = {"at_least": "≥", "at_most": "≤", "above": ">", "below": "<"}


@dataclass(frozen=True)
class Case:
    """A condition on the run of one name, with everything that is measured for it, once."""

    hand_in: HandIn
    condition: Condition
    name: str

    @cached_property
    def run(self) -> Run | None:
        return measured_or_none(run_that_counts, self.hand_in, self.name)

    @cached_property
    def value(self) -> Value | NotMeasured:
        return attempt(condition_value, self.hand_in, self.condition, self.name)

    @cached_property
    def reference(self) -> Measure | None:
        """Return the value that the solution reaches on this site with as many workers."""
        workers = measure.workers(self.run) if self.run else None
        key = reference_key(self.condition, self.name)
        return calibration.reference(self.hand_in.references, key, workers)

    @cached_property
    def limit(self) -> Value | NotMeasured:
        return attempt(self.threshold_value, self.condition.threshold)

    @cached_property
    def begin(self) -> float | None:
        """Return the value at which partial credit begins, or None if there is none."""
        start = partial_from(self.condition)
        begin = attempt(self.threshold_value, start) if start else None
        return begin.value if isinstance(begin, Measure) else None

    @property
    def is_asked(self) -> bool:
        """Return whether the condition applies: some are not asked of runs on synthetic data."""
        synthetic = self.run and self.run.header.dataset.synthetic
        return not (self.condition.real_data and synthetic)

    def threshold_value(self, threshold: Threshold) -> Value:
        """Return the threshold for full or partial credit. That of a reference has no interval."""
        fixed = threshold.fixed(self.hand_in.profile)
        if isinstance(fixed, str):
            return fixed
        if threshold.of_reference is not None:
            if self.reference is None:
                raise NotMeasured(
                    f"the solution has not been measured on this site: {title_of(self.condition)}",
                    "run `autograder calibrate`, and name its file in class.yaml",
                    code=ReasonCode.NOT_CALIBRATED,
                )
            number = threshold.of_reference * self.reference.value + threshold.plus
            return interval.exact(number, self.reference.unit)
        if fixed is not None:
            return interval.exact(fixed * threshold.factor + threshold.plus)
        other = threshold.of or self.name
        run = run_that_counts(self.hand_in, other)
        value = metric_value(self.hand_in, threshold.metric or "", other, run, {}, None)
        if isinstance(value, str):
            return value
        return interval.scaled(value, threshold.factor, threshold.plus)


def partial_from(condition: Condition) -> Threshold | None:
    return condition.half_from or condition.zero_from


# --- credit -------------------------------------------------------------------------------------


def cases_of(hand_in: HandIn, condition: Condition) -> list[Case]:
    return [Case(hand_in, condition, name) for name in condition.of]


def judge_condition(cases: Sequence[Case]) -> list[Part]:
    """Return the check parts for the decisive runs of a condition: each, or the best."""
    parts = [judge_case(case) for case in cases if case.is_asked]
    if cases[0].condition.take != "best":
        return parts
    best = max(parts, key=lambda part: (part.credit, part.status == PASSED), default=None)
    if best and best.credit:
        return [best]
    tested = [part for part in parts if part.code in (ReasonCode.VALUE, ReasonCode.TEST_FAILED)]
    if tested and cases[0].condition.metric.startswith(OWN):
        return tested  # a program that never measures it is no alternative to one that does
    # Any that is not measured could have been the best.
    return [part for part in parts if part.status == NOT_MEASURED] or parts


def judge_case(case: Case) -> Part:
    condition, value, limit = case.condition, case.value, case.limit
    title, expected = title_of(condition), expected_of(case)
    if isinstance(value, NotMeasured):
        return not_measured(title, expected, value)
    if isinstance(limit, NotMeasured):
        return not_measured(title, expected, limit)
    actual = said_of_run(title, as_text(value), case.name, getattr(value, "basis", ""))
    if isinstance(value, str) or isinstance(limit, str):
        status, credit = (PASSED, 1.0) if value == limit else (FAILED, 0.0)
        return Part(title, status, credit, expected, shortened(actual), code=ReasonCode.VALUE)
    credit, status = credit_of(value.rounded, limit, case.begin, condition)
    certain, hint, code = compare(value, limit, condition), "", ReasonCode.VALUE
    missed = condition.run_again == "missed" and not credit
    if missed or is_too_noisy(value, limit, case.begin, condition):
        status, credit, hint, code = NOT_MEASURED, 0, RUN_AGAIN, ReasonCode.TOO_NOISY
    elif status == PASSED != certain and condition.run_again != "missed":
        status = BORDERLINE
    elif status in (FAILED, PARTIAL) and certain == BORDERLINE and partial_from(condition):
        hint = RUN_AGAIN
    run = None if credit else case.run
    if run and (why := larger_unfinished(case.hand_in, case.name, run, condition.metric)):
        actual, hint = f"{actual}; on more workers, {why.reason}", why.try_
    return Part(title, status, credit, expected, actual, value.where[:4], hint, code=code)


def not_measured(title: str, expected: str, missing: NotMeasured) -> Part:
    not_done = (ReasonCode.NO_RUN, ReasonCode.RUN_UNFINISHED, ReasonCode.TEST_FAILED)
    status = FAILED if missing.code in not_done else NOT_MEASURED
    facts = (missing.reason, missing.where, missing.try_)
    return Part(title, status, 0, expected, *facts, code=missing.code)


def credit_of(
    value: Measure, limit: Measure, begin: float | None, condition: Condition
) -> tuple[float, CheckStatus]:
    """Return the credit and status. Below the threshold, credit grows linearly from `begin`.

    Partial credit uses the end of the interval that favours the student, so the credit does not
    jump where full credit begins.
    """
    status = compare(value, limit, condition)
    if status != FAILED:
        return 1.0, status
    if begin is None or begin == limit.value:
        return 0.0, FAILED
    best = value.high if condition.operator == "at_least" else value.low
    way = (best - begin) / (limit.value - begin)
    if way < 0 or (way == 0 and condition.zero_from):
        return 0.0, FAILED
    floor = 0.5 if condition.half_from else 0.0
    return min(1.0, floor + (1 - floor) * way), PARTIAL


def is_too_noisy(value: Measure, limit: Measure, begin: float | None, condition: Condition) -> bool:
    """Return whether the repeats differ so much that zero and full credit are both possible."""
    if condition.run_again != "noisy" or value.rounding is None:
        return False
    ends = (replace(value, low=end, high=end) for end in value.ends)
    credits = [credit_of(end, limit, begin, condition)[0] for end in ends]
    return min(credits) == 0 and max(credits) == 1


def compare(value: Measure, limit: Measure, condition: Condition) -> CheckStatus:
    """Return PASSED if the whole interval meets the threshold, or BORDERLINE if only part does."""
    relative, absolute = tolerance(condition.tolerance)
    slack = max(absolute, relative * abs(limit.value)) + 1e-9 * abs(limit.value)  # exact edges pass
    low, high = value.low - limit.high, value.high - limit.low
    if condition.operator in ("at_most", "below"):
        low, high = -high, -low
    if condition.operator == "equal":
        sure = abs(value.value - limit.value) <= slack
        possible = low <= slack and high >= -slack
    elif condition.operator in ("above", "below"):
        sure, possible = low > 0, high > 0
    else:
        sure, possible = low >= -slack, high >= -slack
    if sure:
        return PASSED
    return BORDERLINE if possible else FAILED


def expected_of(case: Case) -> str:
    """Return what was required: a number if the threshold is known, otherwise words."""
    condition, limit, fraction = case.condition, case.limit, case.condition.threshold.of_reference
    if not isinstance(limit, NotMeasured):
        if isinstance(limit, Measure) and not condition.over:
            limit = replace(limit, unit=metric_named(condition.metric).unit)
        goal = as_text(limit)
        goal += f" ({fraction:g} of the reference)" if fraction is not None else ""
    elif fraction is not None:
        goal = f"{fraction:g} of what the solution reaches on this site"
    else:
        goal = metric_named(condition.threshold.metric or "").label
    goal = f"{SYMBOLS.get(condition.operator, '')} {goal}".lstrip()
    return said_of_run(title_of(condition), goal, case.name)


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

    value, other_name = value_of(name), condition.minus or condition.over
    other = value_of(other_name) if other_name else None
    if isinstance(value, str) or other is None or isinstance(other, str):
        return value
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


def as_text(value: Value) -> str:
    """Return the value as text: a word, or a number with its unit and interval."""
    if isinstance(value, str):
        return value
    number = with_unit(value.value, value.unit)
    if value.low == value.high:
        return number
    return f"{number} [{shown(value.low)}, {shown(value.high)}]"
