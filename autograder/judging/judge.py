"""Turn a rubric, runs and answers into points with reasons. A pure function of records.

The questions are, in order: did the run finish, is it the required run, what was measured, and does
it meet the threshold?
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.codes import CheckStatus, FindingCode, GradeStatus, ReasonCode
from autograder.judging.conditions import cases_of, judge_condition, not_measured
from autograder.judging.hand_in import HandIn, says
from autograder.judging.judge_answers import judge_answer
from autograder.judging.runs_that_count import SUBMIT_IT, run_that_counts, size_shortfall
from autograder.measuring.interval import NotMeasured, measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.notes import Note, make_note
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.settings import draws
from autograder.settings.rubric_schema import Condition, RubricCheck
from autograder.submissions.texts import Report
from autograder.verdict import (
    FAILED,
    NOT_MEASURED,
    PARTIAL,
    PASSED,
    WAITS,
    WORST_FIRST,
    Check,
    Grade,
    Part,
)
from autograder.wording import sentence, shown


def judge(hand_in: HandIn) -> Grade:
    """Return the grade for the work, before late days and overrides. Its student is empty."""
    rubric = hand_in.rubric
    checks = [judge_check(hand_in, c) for c in rubric.checks if is_asked(hand_in, c)]
    waiting = sum((check.points for check in checks if check.status == WAITS), 0.0)
    return Grade(
        student="",
        lesson=rubric.lesson,
        title=rubric.title,
        profile=hand_in.profile,
        status=GradeStatus.GRADED,
        score=round(sum(check.score for check in checks), 2),
        max_score=rubric.points - waiting,
        waiting=waiting,
        checks=tuple(checks),
        findings=tuple(findings(hand_in)),
    )


def is_asked(hand_in: HandIn, check: RubricCheck) -> bool:
    """Return whether the check counts in this profile and, with `if_present`, for these runs."""
    is_there = any(hand_in.runs_by_name[name] for name in hand_in.rubric.own_runs(check))
    return check.only in (None, hand_in.profile) and (is_there or not check.if_present)


def judge_check(hand_in: HandIn, check: RubricCheck) -> Check:
    if check.draw:
        return _not_drawn(hand_in, check)
    if check.answers:
        return _mean(check, tuple(judge_answer(hand_in, key) for key in check.answers))
    parts = tuple(judge_heading(hand_in.report, title) for title in check.report)
    if check.by_hand is not None and (hand_in.report or not parts):
        return _check(check, parts, 0, WAITS)  # without a report, nothing is left to wait for
    if parts:
        return _mean(check, parts)
    conditions = check.conditions(hand_in.profile)
    cases = [(c, cases_of(hand_in, c)) for c in conditions]
    # Leave out conditions without a reference on this site, unless no other would remain.
    calibrated = [
        (c, own)
        for c, own in cases
        if c.threshold.of_reference is None or any(case.reference for case in own)
    ]
    parts = tuple(p for _, own in calibrated or cases for p in judge_condition(own))
    credit = min((p.credit for p in parts), default=1.0)
    status = min((p.status for p in parts), key=WORST_FIRST.index, default=PASSED)
    judged = _check(check, parts, credit, status)
    return replace(judged, told=in_words(hand_in, conditions)) if credit > 0 else judged


def _not_drawn(hand_in: HandIn, check: RubricCheck) -> Check:
    """Return a check whose questions are not drawn, because the id is missing or another's."""
    given = hand_in.answers.get(draws.ID)
    expected = "your login or the name in your e-mail address, and the questions drawn by it"
    actual = f"{draws.ID}: {shortened(given.text, 40)}" if given else "no id"
    advice = "write your id into the notebook's first cell, and answer the questions that it draws"
    missing = NotMeasured(actual, advice, [given.where if given else None], ReasonCode.NOT_DRAWN)
    return _check(check, (not_measured(draws.ID, expected, missing),), 0, NOT_MEASURED)


def in_words(hand_in: HandIn, conditions: Sequence[Condition]) -> str:
    """Describe the result in words, using the first condition whose metric can do so."""
    for condition in conditions:
        if words := metric_named(condition.metric).in_words:
            run = measured_or_none(run_that_counts, hand_in, condition.of[0])
            return (run and measured_or_none(words, run)) or ""
    return ""


def _mean(check: RubricCheck, parts: tuple[Part, ...]) -> Check:
    """Return the result of a check on answers or on a report: the mean credit of its parts."""
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
    hints = dict.fromkeys(p.advice for p in speaking if p.advice)
    if [*hints] == [SUBMIT_IT]:  # the rubric may say which job it is
        sentences = re.split(r"(?<=\.) ", check.try_.strip())
        jobs = [text.removeprefix("Then ") for text in sentences if "submit" in text.lower()]
        hints = dict.fromkeys(map(sentence, jobs)) or hints
    actual = "; ".join(dict.fromkeys(p.actual for p in speaking))
    if check.answers and status == PASSED:
        actual = f"all {len(parts)} answers count"
    return Check(
        id=check.id,
        title=check.title,
        points=check.points,
        score=round(check.points * credit, 4),
        status=status,
        expected="; ".join(dict.fromkeys(p.expected for p in speaking)),
        actual=actual,
        where=tuple(dict.fromkeys(w for p in speaking for w in p.where))[:6],
        advice="" if status == PASSED else joined(list(hints)) or check.try_,
        parts=parts,
    )


def joined(hints: Sequence[str]) -> str:
    """Return the hints as one text. If there are several, each becomes a sentence."""
    if len(hints) < 2:
        return "".join(hints)
    return " ".join(sentence(hint) + ("" if hint[-1:] in ".?!" else ".") for hint in hints)


def judge_heading(report: Report | None, title: str) -> Part:
    """Return the check part for a heading that the rubric requires in a report."""
    name, advice = f"the report's part “{title}”", "write the missing parts in report.md"
    part = Part(name, FAILED, 0, f"{name} is there", "", (), advice, code=ReasonCode.NO_REPORT)
    if report is None:
        return replace(part, actual="no report.md was submitted")
    text, where = report.parts.get(title.casefold(), ("", Where(report.name, 0)))
    part = replace(part, where=(where,))
    if not text:
        return replace(part, actual=f"no text below a heading `## {title}`")
    part = replace(part, actual=part.expected, advice="", code=ReasonCode.TEXT)
    return replace(part, status=PASSED, credit=1)


def findings(hand_in: HandIn) -> Iterator[Note]:
    """Report runs and answers that do not fit the lesson."""
    lesson = hand_in.rubric.lesson
    for name in hand_in.rubric.runs:
        run = measured_or_none(run_that_counts, hand_in, name)
        if run and (short := size_shortfall(hand_in, name, run)):
            expected = f"{shown(short[1])} training samples (profile {hand_in.profile})"
            where = [epoch.where for epoch in run.epochs[:1]]
            advice, code = "submit the job without --train-samples", FindingCode.RUN_TOO_SMALL
            yield make_note(code, expected, shown(short[0]), where, advice, name=name)
    strangers = [run for run in hand_in.runs if not says(run, "lesson", lesson)]
    if strangers:
        yield make_note(
            FindingCode.OTHER_LESSON,
            f"outputs of lesson {lesson}",
            shortened(", ".join(str(run.header.lesson) for run in strangers[:4])),
            [Where(run.files[0], 0) for run in strangers if run.files],
            "submit each lesson's outputs in its own folder",
        )
    unknown = sorted(set(hand_in.answers) - set(hand_in.rubric.answers))
    if unknown:
        yield make_note(
            FindingCode.ANSWERS_NOT_ASKED,
            "the ids of the notebook",
            shortened(", ".join(unknown)),
            [hand_in.answers[key].where for key in unknown],
            "check the spelling of these ids",
        )
