"""Report runs and answers that do not fit the lesson, whatever the results of its checks."""

from collections.abc import Iterator

from autograder.codes import FindingCode
from autograder.judging.hand_in import HandIn, says
from autograder.judging.runs_that_count import (
    larger_unfinished,
    last_lines,
    run_that_counts,
    size_shortfall,
)
from autograder.measuring.interval import measured_or_none
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.verdict import Finding, make_finding
from autograder.wording import shown


def findings(hand_in: HandIn) -> Iterator[Finding]:
    for name in hand_in.rubric.runs:
        yield from larger_run_did_not_finish(hand_in, name)
        yield from smaller_than_asked(hand_in, name)
    yield from runs_of_other_lessons(hand_in)
    yield from not_asked(hand_in)


def larger_run_did_not_finish(hand_in: HandIn, name: str) -> Iterator[Finding]:
    ended = larger_unfinished(hand_in, name)
    if ended is None:
        return
    # Keras' own lines in the same files may look like a run that stalled.
    beside = [run for run in hand_in.runs if set(run.files) & set(ended.files)]
    problems = [problem for run in beside for problem in run.problems]
    reasons = [*dict.fromkeys(problem.reason for problem in problems)]
    yield make_finding(
        "run",
        FindingCode.LARGER_RUN_UNFINISHED,
        "a run that ends by itself",
        shortened("; ".join([ended.outcome, *reasons[-3:]]), 200),
        [problem.where for problem in problems[-1:]],
        f"{last_lines(ended)}, fix the error and submit the job again",
        name=name,
    )


def smaller_than_asked(hand_in: HandIn, name: str) -> Iterator[Finding]:
    run = measured_or_none(run_that_counts, hand_in, name)
    short = size_shortfall(hand_in, name, run) if run else None
    if run is None or short is None:
        return
    used, required = short
    yield make_finding(
        "size",
        FindingCode.RUN_TOO_SMALL,
        f"{shown(required)} training samples (profile {hand_in.profile})",
        shown(used),
        [epoch.where for epoch in run.epochs[:1]],
        "submit the job without --train-samples",
        name=name,
    )


def runs_of_other_lessons(hand_in: HandIn) -> Iterator[Finding]:
    lesson = hand_in.rubric.lesson
    strangers = [run for run in hand_in.runs if not says(run, "lesson", lesson)]
    if strangers:
        yield make_finding(
            "run",
            FindingCode.OTHER_LESSON,
            f"outputs of lesson {lesson}",
            shortened(", ".join(str(run.header.lesson) for run in strangers[:4])),
            [Where(run.files[0], 0) for run in strangers if run.files],
            "submit each lesson's outputs in its own folder",
        )


def not_asked(hand_in: HandIn) -> Iterator[Finding]:
    unknown = sorted(set(hand_in.answers) - set(hand_in.rubric.answers))
    if unknown:
        yield make_finding(
            "answers",
            FindingCode.ANSWERS_NOT_ASKED,
            "the ids of the notebook",
            shortened(", ".join(unknown)),
            [hand_in.answers[key].where for key in unknown],
            "check the spelling of these ids",
        )
