"""What a person should know of a hand-in beside its checks: runs and answers that do not fit."""

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
from autograder.verdict import Finding
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
    # Keras' own lines in the same files may have been read as a run that stalled.
    beside = [run for run in hand_in.runs if set(run.files) & set(ended.files)]
    problems = [problem for run in beside for problem in run.problems]
    reasons = [*dict.fromkeys(problem.reason for problem in problems)]
    yield Finding(
        "run",
        f"A larger run of `{name}` did not finish, so a smaller one counts",
        code=FindingCode.LARGER_RUN_UNFINISHED,
        expected="a run that ends by itself",
        found=shortened("; ".join([ended.outcome, *reasons[-3:]]), 200),
        where=tuple(problem.where for problem in problems[-1:]),
        try_=f"{last_lines(ended)}, mend it and submit it again",
    )


def smaller_than_asked(hand_in: HandIn, name: str) -> Iterator[Finding]:
    run = measured_or_none(run_that_counts, hand_in, name)
    short = size_shortfall(hand_in, name, run) if run else None
    if run is None or short is None:
        return
    used, asked = short
    yield Finding(
        "size",
        f"The run of `{name}` is smaller than asked",
        code=FindingCode.RUN_TOO_SMALL,
        expected=f"{shown(asked)} training samples (profile {hand_in.profile})",
        found=shown(used),
        where=tuple(e.where for e in run.epochs[:1] if e.where),
        try_="submit the job without --train-samples",
    )


def runs_of_other_lessons(hand_in: HandIn) -> Iterator[Finding]:
    lesson = hand_in.rubric.lesson
    strangers = [run for run in hand_in.runs if not says(run, "lesson", lesson)]
    if strangers:
        yield Finding(
            "run",
            "An output of another lesson lies here",
            code=FindingCode.OTHER_LESSON,
            expected=f"outputs of lesson {lesson}",
            found=shortened(", ".join(str(run.header.lesson) for run in strangers[:4])),
            where=tuple(Where(run.files[0], 0) for run in strangers[:4] if run.files),
            try_="hand in each lesson's outputs in its own folder",
            look=True,
        )


def not_asked(hand_in: HandIn) -> Iterator[Finding]:
    unknown = sorted(set(hand_in.answers) - set(hand_in.rubric.answers))
    if unknown:
        yield Finding(
            "answers",
            "Answers that this lesson does not ask",
            code=FindingCode.ANSWERS_NOT_ASKED,
            expected="the ids of the notebook",
            found=shortened(", ".join(unknown)),
            where=tuple(hand_in.answers[key].where for key in unknown[:4]),
            try_="check the spelling of these ids",
        )
