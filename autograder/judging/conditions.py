"""Evaluate a condition on runs, and return a check's parts, each with its credit and reason."""

from dataclasses import replace

from autograder.codes import CheckStatus, ReasonCode
from autograder.judging import values
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import (
    how_it_ended,
    larger_unfinished,
    last_lines,
    run_that_counts,
)
from autograder.measuring.interval import Measure, NotMeasured, measured_or_none
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import Condition, Threshold, tolerance
from autograder.verdict import BORDERLINE, FAILED, NOT_MEASURED, PARTIAL, PASSED, Part

RUN_AGAIN = (
    "The machine was busy, or the repeats differ too much. Run this job again when fewer other "
    "programs run there, and submit its output as well."
)


def judge_condition(hand_in: HandIn, condition: Condition) -> list[Part]:
    """Evaluate a condition on its runs, and return the check parts for the decisive runs.

    `condition.take` says how many of the runs have to satisfy it.
    """
    names = [name for name in condition.of if is_asked_of(hand_in, condition, name)]
    parts = {name: judge_run(hand_in, condition, name) for name in names}
    if condition.take == "each" or not names:
        return list(parts.values())

    def worst_last(name: str) -> tuple[float, bool, float]:
        part = parts[name]
        return -part.credit, part.status != PASSED, -goodness(hand_in, condition, name)

    ranked = [parts[name] for name in sorted(names, key=worst_last)]
    needed = 1 if condition.take == "best" else min(condition.take, len(ranked))
    if ranked[needed - 1].credit == 0:
        # Too few satisfy it: any of these could have been the missing one.
        short = ranked[needed - 1 :]
        return [part for part in short if part.status == NOT_MEASURED] or short
    return ranked[:needed]


def is_asked_of(hand_in: HandIn, condition: Condition, name: str) -> bool:
    """Return whether a condition applies to a run.

    A run on synthetic data cannot show that the network learnt real images. The evidence checks
    report a run on synthetic data.
    """
    run = measured_or_none(run_that_counts, hand_in, name) if condition.real_data else None
    return run is None or not run.header.dataset.synthetic


def goodness(hand_in: HandIn, condition: Condition, name: str) -> float:
    """Return the sort key for runs with the same credit. The best run is reported."""
    value = measured_or_none(values.condition_value, hand_in, condition, name)
    if not isinstance(value, Measure) or condition.operator == "equal":
        return 0.0
    return value.value if condition.operator in ("at_least", "above") else -value.value


def judge_run(hand_in: HandIn, condition: Condition, name: str) -> Part:
    title, expected = values.title_of(condition), values.expected_of(hand_in, condition, name)
    try:
        value = values.condition_value(hand_in, condition, name)
        limit = values.threshold_value(hand_in, condition.threshold, condition, name)
    except NotMeasured as missing:
        status = FAILED if missing.without_run else NOT_MEASURED
        reason, where = missing.reason, missing.where
        return Part(title, status, 0, expected, reason, where, missing.try_, code=missing.code)
    if isinstance(value, str) or isinstance(limit, str):
        found = shortened(values.said_of_run(title, values.as_text(value), name))
        status = PASSED if value == limit else FAILED
        credit = float(value == limit)
        return Part(title, status, credit, expected, found, code=ReasonCode.VALUE)
    begin = partial_limit(hand_in, condition, name)
    credit, status = credit_of(value.rounded, limit, begin, condition)
    certain = compare(value, limit, condition)
    found, hint, code = (
        values.said_of_run(title, values.as_text(value), name, value.basis),
        "",
        ReasonCode.VALUE,
    )
    missed = condition.run_again == "missed" and not credit
    if missed or is_too_noisy(value, limit, begin, condition):
        status, credit, hint, code = NOT_MEASURED, 0, RUN_AGAIN, ReasonCode.TOO_NOISY
    elif status == PASSED != certain and condition.run_again != "missed":
        status = BORDERLINE
    elif status in (FAILED, PARTIAL) and certain == BORDERLINE and partial_from(condition):
        hint = RUN_AGAIN
    larger = larger_unfinished(hand_in, name) if status == FAILED else None
    if larger and condition.metric == hand_in.rubric.runs[name].largest:
        found += f"; a larger run of `{name}` did not finish: {how_it_ended(larger)}"
        hint = last_lines(larger)
    return Part(title, status, credit, expected, found, value.where[:4], hint, code=code)


def partial_from(condition: Condition) -> Threshold | None:
    return condition.half_from or condition.zero_from


def partial_limit(hand_in: HandIn, condition: Condition, name: str) -> float | None:
    """Return the value at which partial credit begins, or None if there is none."""
    start = partial_from(condition)
    begin = start and measured_or_none(values.threshold_value, hand_in, start, condition, name)
    return begin.value if isinstance(begin, Measure) else None


def credit_of(
    value: Measure, limit: Measure, begin: float | None, condition: Condition
) -> tuple[float, CheckStatus]:
    """Return the credit and status.

    Below the threshold, credit grows linearly, starting at `begin`.

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
