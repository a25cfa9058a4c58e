"""Evaluate a condition on runs, and return a check's parts, each with its credit and reason."""

from dataclasses import replace

from autograder.codes import CheckStatus, ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.in_words import (
    SYMBOLS,
    as_text,
    limit_as_text,
    said_of_run,
    threshold_in_words,
    title_of,
)
from autograder.judging.runs_that_count import (
    how_it_ended,
    larger_unfinished,
    last_lines,
    run_that_counts,
)
from autograder.judging.values import condition_value, threshold_value
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
    parts = [judge_run(hand_in, condition, name) for name in names]
    if condition.take == "each" or not names:
        return parts
    values = [goodness(hand_in, condition, name) for name in names]
    best = sorted(
        zip(parts, values, strict=True),
        key=lambda pair: (-pair[0].credit, pair[0].status != PASSED, -pair[1]),
    )
    ranked = [part for part, _ in best]
    needed = 1 if condition.take == "best" else min(condition.take, len(ranked))
    if ranked[needed - 1].credit == 0:
        # Too few satisfy it: any of these could have been the missing one.
        short = ranked[needed - 1 :]
        return [p for p in short if p.status == NOT_MEASURED] or short
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
    value = measured_or_none(condition_value, hand_in, condition, name)
    if not isinstance(value, Measure) or condition.operator == "equal":
        return 0.0
    return value.value if condition.operator in ("at_least", "above") else -value.value


def judge_run(hand_in: HandIn, condition: Condition, name: str) -> Part:
    title = title_of(condition)
    expected = expected_of(hand_in, condition, name)
    try:
        value = condition_value(hand_in, condition, name)
        limit = threshold_value(hand_in, condition.threshold, condition, name)
    except NotMeasured as missing:
        status = FAILED if missing.without_run else NOT_MEASURED
        reason, where = missing.reason, missing.where
        return Part(title, status, 0, expected, reason, where, missing.try_, code=missing.code)
    if isinstance(value, str) or isinstance(limit, str):
        found = said_of_run(title, as_text(value), name)
        same = value == limit
        status = PASSED if same else FAILED
        return Part(title, status, float(same), expected, shortened(found), code=ReasonCode.VALUE)
    credit, status = credit_of(hand_in, value.rounded, limit, condition, name)
    certain = compare(value, limit, condition)[1]
    found, hint = said_of_run(title, as_text(value), name, value.basis), ""
    if status == PASSED != certain and condition.run_again != "missed":
        status = BORDERLINE
    elif status in (FAILED, PARTIAL) and certain == BORDERLINE and partial_from(condition):
        hint = RUN_AGAIN
    missed = condition.run_again == "missed" and not credit
    if missed or is_too_noisy(hand_in, value, limit, condition, name):
        code = ReasonCode.TOO_NOISY
        return Part(title, NOT_MEASURED, 0, expected, found, value.where[:4], RUN_AGAIN, code=code)
    larger = larger_unfinished(hand_in, name) if status == FAILED else None
    if larger and condition.metric == hand_in.rubric.runs[name].largest:
        found += f"; a larger run of `{name}` did not finish: {how_it_ended(larger)}"
        hint = last_lines(larger)
    where = value.where[:4]
    return Part(title, status, credit, expected, found, where, hint, code=ReasonCode.VALUE)


def expected_of(hand_in: HandIn, condition: Condition, name: str) -> str:
    """Return what was required: a number if the threshold is known, otherwise words."""
    threshold = condition.threshold
    limit = measured_or_none(threshold_value, hand_in, threshold, condition, name)
    goal = threshold_in_words(threshold, name) if limit is None else limit_as_text(limit, condition)
    if limit is not None and threshold.of_reference is not None:
        goal += f" ({threshold.of_reference:g} of the reference)"
    goal = f"{SYMBOLS.get(condition.operator, '')} {goal}".lstrip()
    return said_of_run(title_of(condition), goal, name)


def credit_of(
    hand_in: HandIn, value: Measure, limit: Measure, condition: Condition, name: str
) -> tuple[float, CheckStatus]:
    credit, status = compare(value, limit, condition)
    return partial(hand_in, value, limit, condition, name) if status == FAILED else (credit, status)


def partial_from(condition: Condition) -> Threshold | None:
    return condition.half_from or condition.zero_from


def is_too_noisy(
    hand_in: HandIn, value: Measure, limit: Measure, condition: Condition, name: str
) -> bool:
    """Return whether the repeats differ so much that zero and full credit are both possible."""
    if condition.run_again != "noisy" or value.rounding is None:
        return False
    ends = (replace(value, low=end, high=end) for end in (value.low, value.high))
    credits = [credit_of(hand_in, end, limit, condition, name)[0] for end in ends]
    return min(credits) == 0 and max(credits) == 1


def compare(value: Measure, limit: Measure, condition: Condition) -> tuple[float, CheckStatus]:
    """Return full credit if the whole interval meets the threshold, borderline if a part does."""
    relative, absolute = tolerance(condition.tolerance)
    slack = max(absolute, relative * abs(limit.value), 1e-9 * abs(limit.value))
    if condition.operator == "equal":
        sure = abs(value.value - limit.value) <= slack
        possible = value.low - slack <= limit.high and value.high + slack >= limit.low
    elif condition.operator == "at_least":
        sure, possible = value.low >= limit.high - slack, value.high >= limit.low - slack
    elif condition.operator == "at_most":
        sure, possible = value.high <= limit.low + slack, value.low <= limit.high + slack
    elif condition.operator == "above":
        sure, possible = value.low > limit.high, value.high > limit.low
    else:
        sure, possible = value.high < limit.low, value.low < limit.high
    if sure:
        return 1.0, PASSED
    return (1.0, BORDERLINE) if possible else (0.0, FAILED)


def partial(
    hand_in: HandIn, value: Measure, limit: Measure, condition: Condition, name: str
) -> tuple[float, CheckStatus]:
    """Return the partial credit below the threshold, which grows linearly between two values.

    Partial credit uses the end of the interval that favours the student, so the credit does not
    jump where full credit begins.
    """
    start = partial_from(condition)
    if start is None:
        return 0.0, FAILED
    begin = measured_or_none(threshold_value, hand_in, start, condition, name)
    if not isinstance(begin, Measure) or begin.value == limit.value:
        return 0.0, FAILED
    best = value.high if condition.operator == "at_least" else value.low
    way = (best - begin.value) / (limit.value - begin.value)
    if way < 0 or (way == 0 and condition.zero_from):
        return 0.0, FAILED
    floor = 0.5 if condition.half_from else 0.0
    return min(1.0, floor + (1 - floor) * way), PARTIAL
