"""Turn a rubric, runs and answers into points with reasons. A pure function of records.

The questions are, in order: did the run finish, is it the required run, what was measured, and does
it meet the threshold?
"""

from collections.abc import Sequence
from dataclasses import replace

from autograder.codes import CheckStatus
from autograder.judging.beside_checks import findings
from autograder.judging.conditions import judge_condition
from autograder.judging.hand_in import HandIn
from autograder.judging.judge_answers import judge_answer
from autograder.judging.judge_report import judge_report
from autograder.judging.runs_that_count import run_that_counts
from autograder.judging.values import reference_of
from autograder.measuring.interval import measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.settings.rubric_schema import Condition, RubricCheck
from autograder.verdict import (
    BORDERLINE,
    FAILED,
    NOT_MEASURED,
    PARTIAL,
    PASSED,
    Check,
    Judged,
    Part,
)
from autograder.wording import sentences

WORST_FIRST = (FAILED, NOT_MEASURED, PARTIAL, BORDERLINE, PASSED)


def judge(hand_in: HandIn) -> Judged:
    checks = [judge_check(hand_in, c) for c in hand_in.rubric.checks if is_asked(hand_in, c)]
    return Judged(
        score=round(sum(check.score for check in checks), 2),
        max_score=hand_in.rubric.points,
        checks=tuple(checks),
        findings=tuple(findings(hand_in)),
    )


def is_asked(hand_in: HandIn, check: RubricCheck) -> bool:
    """Return whether the check counts in this profile.

    With `if_present`, a check counts only if one of its runs exists.
    """
    if check.only not in (None, hand_in.profile):
        return False
    names = {name for condition in check.require for name in condition.of}
    return not check.if_present or any(hand_in.runs_by_name[name] for name in names)


def judge_check(hand_in: HandIn, check: RubricCheck) -> Check:
    if check.answers:
        return _of_answers(check, tuple(judge_answer(hand_in, key) for key in check.answers))
    if check.report:
        return _of_answers(check, judge_report(hand_in, check.report))
    conditions = [c for c in check.require if c.only in (None, hand_in.profile)]
    # Leave out conditions without a reference on this site, unless no other would remain.
    calibrated = [c for c in conditions if not uncalibrated(hand_in, c)]
    parts = tuple(p for c in calibrated or conditions for p in judge_condition(hand_in, c))
    credit = min((p.credit for p in parts), default=1.0)
    status = min((p.status for p in parts), key=WORST_FIRST.index, default=PASSED)
    judged = _check(check, parts, credit, status)
    return replace(judged, told=in_words(hand_in, conditions)) if credit > 0 else judged


def in_words(hand_in: HandIn, conditions: Sequence[Condition]) -> str:
    """Describe the result in words, using the first condition whose metric can do so."""
    for condition in conditions:
        words = metric_named(condition.metric).in_words
        if words is not None:
            run = measured_or_none(run_that_counts, hand_in, condition.of[0])
            return (measured_or_none(words, run) if run else None) or ""
    return ""


def uncalibrated(hand_in: HandIn, condition: Condition) -> bool:
    if condition.threshold.of_reference is None:
        return False
    return not any(reference_of(hand_in, condition, name) for name in condition.of)


def _of_answers(check: RubricCheck, parts: tuple[Part, ...]) -> Check:
    """Return the result of a check on answers or on a report.

    Its credit is the mean credit of its parts.
    """
    credit = sum(p.credit for p in parts) / len(parts)
    status = FAILED
    if credit > 0 or any(p.status == NOT_MEASURED for p in parts):
        unclear = all(p.status in (NOT_MEASURED, PASSED) for p in parts)
        status = PASSED if credit == 1 else NOT_MEASURED if unclear else PARTIAL
    return _check(check, parts, credit, status)


def _check(
    check: RubricCheck, parts: tuple[Part, ...], credit: float, status: CheckStatus
) -> Check:
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
        try_="" if status == PASSED else sentences(hints) or check.try_,
        hidden=check.hidden,
        parts=parts,
    )
