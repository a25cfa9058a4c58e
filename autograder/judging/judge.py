"""Rubric + runs + answers -> points with their reasons. A pure function of records.

Order: did it finish, is it the run that was asked for, what was measured, then the threshold.
"""

from autograder.judging.case import (
    Case,
    as_text,
    chosen,
    constant,
    in_words,
    larger_unfinished,
    last_lines,
    matching,
    metric_value,
    says,
    shown,
    shown_measure,
    size_shortfall,
)
from autograder.judging.judge_answers import judge_answer
from autograder.measuring import measure
from autograder.measuring.measure import Measure, NotMeasured, exact, measured_or_none
from autograder.measuring.metrics import Value
from autograder.records import Where
from autograder.safe_text import printable
from autograder.settings.rubric import Condition, RubricCheck, Threshold, tolerance
from autograder.verdict import (
    BORDERLINE,
    FAILED,
    NOT_MEASURED,
    PARTIAL,
    PASSED,
    Check,
    Finding,
    Judged,
    Part,
)

SYMBOLS = {"at_least": "≥", "at_most": "≤", "above": ">", "below": "<", "equal": "="}


# --- a condition ----------------------------------------------------------------------------


def value_of(given: Case, condition: Condition, name: str) -> Value:
    run = chosen(given, name)
    value = metric_value(given, condition.metric, name, run, condition.at, condition.base)
    other_name = condition.minus or condition.over
    if other_name is None or not isinstance(value, Measure):
        return value
    other_run = chosen(given, other_name)
    other = metric_value(
        given, condition.metric, other_name, other_run, condition.at, condition.base
    )
    if not isinstance(other, Measure):
        raise NotMeasured(f"{condition.metric} is a word")
    return measure.difference(value, other) if condition.minus else measure.ratio(value, other)


LABELS = {
    "chain_intact": "unbroken record",
    "devices_distinct": "distinct places",
    "error_file_separate": "separate error file",
    "job_known": "named job",
    "params": "parameters",
    "shard_overlap": "samples read twice",
    "shard_uncovered": "samples left out",
}


def title_of(condition: Condition, name: str) -> str:
    """What is measured, in words; also its name in a calibration file."""
    label = condition.metric.removeprefix("measure:").replace("_", " ")
    label = label.removeprefix("study ") if condition.at else label
    label = LABELS.get(condition.metric, label)
    label += "".join(f", {key} {value}" for key, value in condition.at.items())
    if condition.base:
        return f"{label} of {name} over {condition.base}"
    if condition.minus:
        return f"difference in {label} between {name} and {condition.minus}"
    if condition.over:
        return f"{label} of {name} over that of {condition.over}"
    return f"{label} of {name}"


def threshold_value(given: Case, threshold: Threshold, title: str, name: str) -> Value:
    fixed = constant(threshold, given.profile)
    if isinstance(fixed, str):
        return fixed
    factor = threshold.factor
    if fixed is not None:
        value: Value = exact(fixed)
    elif threshold.of_reference is not None:
        factor = threshold.of_reference
        if title not in given.references:
            raise NotMeasured(
                f"nobody has measured the solution's {title} on this site",
                "instructor: `autograder calibrate` with the solution's outputs, "
                "then --calibration",
            )
        value = given.references[title]
    else:
        run = chosen(given, threshold.of or name)
        value = metric_value(given, threshold.metric or "", threshold.of or name, run, {})
    if not isinstance(value, Measure):
        return value
    moved = measure.scaled(value, factor)
    low, high = moved.low + threshold.plus, moved.high + threshold.plus
    if threshold.of_reference is not None:  # the reference is a line, not a range
        low = high = moved.value
    return Measure(moved.value + threshold.plus, low, high, moved.unit, moved.where, moved.basis)


def judge_run(given: Case, condition: Condition, name: str) -> Part:
    """One condition on one run."""
    title = title_of(condition, name)
    expected = expected_of(given, condition, name)
    try:
        value = value_of(given, condition, name)
        limit = threshold_value(given, condition.threshold, title, name)
    except NotMeasured as missing:
        status = FAILED if missing.absent else NOT_MEASURED
        return Part(title, status, 0, expected, missing.reason, missing.where, missing.try_)
    if isinstance(value, str) or isinstance(limit, str):
        same = value == limit
        found = printable(f"{title}: {as_text(value)}")
        return Part(title, PASSED if same else FAILED, float(same), expected, found)
    assert isinstance(value, Measure)
    assert isinstance(limit, Measure)
    credit, status = compare(value, limit, condition)
    if status == FAILED:
        credit, status = partial(given, value, limit, condition, name)
    found = f"{title}: {shown_measure(value)}" + (f", {value.basis}" if value.basis else "")
    return Part(title, status, credit, expected, found, value.where[:4])


def expected_of(given: Case, condition: Condition, name: str) -> str:
    """What was asked, as a number where the threshold is known."""
    title, threshold = title_of(condition, name), condition.threshold
    limit = measured_or_none(threshold_value, given, threshold, title, name)
    goal = in_words(threshold, name) if limit is None else as_text(limit)
    if isinstance(limit, Measure) and threshold.of_reference is not None:
        goal += f" ({threshold.of_reference:g} of the reference)"
    return f"{title} {SYMBOLS[condition.operator]} {goal}"


def compare(value: Measure, limit: Measure, condition: Condition) -> tuple[float, str]:
    """Full credit as soon as the interval reaches the threshold; borderline if part of it does."""
    relative, absolute = tolerance(condition.tolerance)
    slack = max(absolute, relative * abs(limit.value), 1e-9 * abs(limit.value))
    operator = condition.operator
    if operator == "equal":
        sure = abs(value.value - limit.value) <= slack
        possible = value.low - slack <= limit.high and value.high + slack >= limit.low
    elif operator in ("at_least", "above"):
        sure, possible = value.low >= limit.high - slack, value.high >= limit.low - slack
    else:
        sure, possible = value.high <= limit.low + slack, value.low <= limit.high + slack
    if operator == "above":
        sure, possible = value.low > limit.high, value.high > limit.low
    if operator == "below":
        sure, possible = value.high < limit.low, value.low < limit.high
    if sure:
        return 1.0, PASSED
    return (1.0, BORDERLINE) if possible else (0.0, FAILED)


def partial(
    given: Case, value: Measure, limit: Measure, condition: Condition, name: str
) -> tuple[float, str]:
    """Credit below the threshold: linear between two values, by the end of the interval that is
    better for the student, so that it meets full credit without a step."""
    start = condition.half_from or condition.zero_from
    if start is None:
        return 0.0, FAILED
    begin = measured_or_none(threshold_value, given, start, title_of(condition, name), name)
    if not isinstance(begin, Measure) or begin.value == limit.value:
        return 0.0, FAILED
    best = value.high if condition.operator == "at_least" else value.low
    way = (best - begin.value) / (limit.value - begin.value)
    if way < 0 or (way == 0 and condition.zero_from):
        return 0.0, FAILED
    floor = 0.5 if condition.half_from else 0.0
    return min(1.0, floor + (1 - floor) * way), PARTIAL


def judge_condition(given: Case, condition: Condition) -> list[Part]:
    """A condition on its runs: those that decide. `take` says how many have to satisfy it."""
    parts = [judge_run(given, condition, name) for name in condition.of]
    if condition.take == "each":
        return parts
    order = {id(p): goodness(given, condition, n) for p, n in zip(parts, condition.of, strict=True)}
    ranked = sorted(parts, key=lambda p: (-p.credit, p.status != PASSED, -order[id(p)]))
    needed = 1 if condition.take == "best" else min(condition.take, len(ranked))
    if ranked[needed - 1].credit == 0:
        short = ranked[needed - 1 :]  # too few satisfy it: each of these could have
        return [p for p in short if p.status == NOT_MEASURED] or short
    return ranked[:needed]


def goodness(given: Case, condition: Condition, name: str) -> float:
    """Puts runs with the same credit in order: of those that satisfy it, the best is told."""
    value = measured_or_none(value_of, given, condition, name)
    if not isinstance(value, Measure) or condition.operator == "equal":
        return 0.0
    return value.value if condition.operator in ("at_least", "above") else -value.value


# --- a check --------------------------------------------------------------------------------

ORDER = (FAILED, NOT_MEASURED, PARTIAL, BORDERLINE, PASSED)


def judge_check(given: Case, check: RubricCheck) -> Check:
    if check.answers:
        parts = tuple(judge_answer(given, key) for key in check.answers)
        credit = sum(p.credit for p in parts) / len(parts)
        status = FAILED
        if credit > 0 or any(p.status == NOT_MEASURED for p in parts):
            unclear = all(p.status in (NOT_MEASURED, PASSED) for p in parts)
            status = PASSED if credit == 1 else NOT_MEASURED if unclear else PARTIAL
        return _check(check, parts, credit, status)
    conditions = [c for c in check.require if c.only in (None, given.profile)]
    # What is relative to a reference that nobody measured on this site is left out, unless
    # nothing else would be left.
    calibrated = [c for c in conditions if not uncalibrated(given, c)]
    parts = tuple(p for c in calibrated or conditions for p in judge_condition(given, c))
    credit = min((p.credit for p in parts), default=1.0)
    status = min((p.status for p in parts), key=ORDER.index, default=PASSED)
    return _check(check, parts, credit, status)


def uncalibrated(given: Case, condition: Condition) -> bool:
    if condition.threshold.of_reference is None:
        return False
    return not any(title_of(condition, name) in given.references for name in condition.of)


def _check(check: RubricCheck, parts: tuple[Part, ...], credit: float, status: str) -> Check:
    speaking = [p for p in parts if p.status != PASSED] or list(parts)
    hints = dict.fromkeys(p.try_ for p in speaking if p.try_)
    found = "; ".join(dict.fromkeys(p.found for p in speaking))
    if check.answers and status == PASSED:
        found = f"all {len(parts)} answers count"
    return Check(
        id=check.id,
        title=check.title,
        points=check.points,
        score=round(check.points * credit, 4),
        status=status,
        expected="; ".join(dict.fromkeys(p.expected for p in speaking)),
        found=found,
        where=tuple(dict.fromkeys(w for p in speaking for w in p.where))[:6],
        try_="" if status == PASSED else "; ".join(hints) or check.try_,
        hidden=check.hidden,
        parts=parts,
    )


# --- the whole ------------------------------------------------------------------------------


def judge(given: Case) -> Judged:
    checks = []
    for check in given.rubric.checks:
        if check.only not in (None, given.profile):
            continue
        if check.if_present and not any(
            matching(given.runs, given.rubric, name) for c in check.require for name in c.of
        ):
            continue
        checks.append(judge_check(given, check))
    findings = []
    for name in given.rubric.runs:
        run = measured_or_none(chosen, given, name)
        if (ended := larger_unfinished(given, name)) is not None:
            # Keras' own lines in the same files may have been read as a run that stalled.
            beside = [run for run in given.runs if set(run.files) & set(ended.files)]
            problems = [problem for run in beside for problem in run.problems]
            reasons = [*dict.fromkeys(problem.reason for problem in problems)]
            findings.append(
                Finding(
                    "run",
                    f"A larger run of `{name}` did not finish, so a smaller one counts",
                    expected="a run that ends by itself",
                    found=printable("; ".join([ended.outcome, *reasons[-3:]]), 200),
                    where=tuple(problem.where for problem in problems[-1:]),
                    try_=f"{last_lines(ended)}, mend it and submit it again",
                )
            )
        short = size_shortfall(given, run) if run else None
        if run and short:
            findings.append(
                Finding(
                    "size",
                    f"The run of `{name}` is smaller than asked",
                    expected=f"{shown(short[1])} training samples (profile {given.profile})",
                    found=f"{shown(short[0])}",
                    where=tuple(e.where for e in run.epochs[:1] if e.where),
                    try_="submit the job without --train-samples",
                )
            )
    strangers = [r for r in given.runs if not says(r, "lesson", given.rubric.lesson)]
    if strangers:
        findings.append(
            Finding(
                "run",
                "An output of another lesson lies here",
                expected=f"outputs of lesson {given.rubric.lesson}",
                found=printable(", ".join(str(r.header.get("lesson")) for r in strangers[:4])),
                where=tuple(Where(r.files[0], 0) for r in strangers[:4] if r.files),
                try_="hand in each lesson's outputs in its own folder",
                look=True,
            )
        )
    unknown = sorted(set(given.answers) - set(given.rubric.answers))
    if unknown:
        findings.append(
            Finding(
                "answers",
                "Answers that this lesson does not ask",
                expected="the ids of the notebook",
                found=printable(", ".join(unknown)),
                where=tuple(given.answers[key].where for key in unknown[:4]),
                try_="check the spelling of these ids",
            )
        )
    return Judged(
        score=round(sum(c.score for c in checks), 2),
        max_score=given.rubric.points,
        checks=tuple(checks),
        findings=tuple(findings),
    )
