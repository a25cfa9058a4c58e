"""Find the next steps of a student: the few that would regain the most points."""

from collections.abc import Iterator, Mapping, Sequence

from autograder.codes import LEFT_TO_INSTRUCTOR, STUDENT, FindingCode, GradeStatus, ReasonCode
from autograder.grouping import grouped
from autograder.judging.runs_that_count import SUBMIT_IT
from autograder.notes import Note
from autograder.safe_text import shortened
from autograder.verdict import NO_LESSONS, NOT_MEASURED, PASSED, WAITS, Check, Grade, Part
from autograder.wording import counted, enumerated, sentence

MOST = 3  # lines, before one for the rest
THE_REST = "Then follow the advice that each of the other checks gives"
MOST_NAMED = 2  # checks that one line names
NOT_RUN = (ReasonCode.NO_RUN, ReasonCode.RUN_UNFINISHED)
LEAST = 0.005  # points
AGAIN = "read the lesson again, and answer again"


def next_steps(grades: Sequence[Grade]) -> list[tuple[str, str]]:
    """Return what to do, each with the points and checks that depend on it, most points first."""
    reasons = grouped(
        (shortened(sentence(do), 500), ((lesson_number(grade), about), lost))
        for grade in grades
        for do, about, lost in steps_of(grade)
    )
    steps = sorted(reasons.items(), key=lambda step: -sum(lost for _, lost in step[1]))
    if len(steps) > MOST + 1:
        rest = [each for _, why in steps[MOST:] for each in why]
        steps = [*steps[:MOST], (THE_REST, rest)]
    return [
        (do, reason([*dict.fromkeys(about for about, _ in why)], sum(lost for _, lost in why)))
        for do, why in steps
    ]


def reason(about: Sequence[tuple[str, str]], lost: float) -> str:
    """Return the points and the first checks or answers, each lesson named once."""
    more = f" and {len(about) - MOST_NAMED} more" if len(about) > MOST_NAMED else ""
    by_lesson = grouped(about[:MOST_NAMED])
    named = [", ".join(filter(None, (each, "; ".join(by_lesson[each])))) for each in by_lesson]
    worth = counted(round(lost, 2), "point") + ": " if round(lost, 2) else ""
    return f"{worth}{'; '.join(named)}{more}"


def for_student(item: Note | Part) -> str:
    """Return the advice that a student can follow, or an empty string."""
    if isinstance(item, Note):
        return item.advice if item.audience == STUDENT else ""
    return "" if item.code in (ReasonCode.NOT_CALIBRATED, ReasonCode.RUN_UNCLEAR) else item.advice


def steps_of(grade: Grade) -> Iterator[tuple[str, str, float]]:
    """Yield the steps of a grade. Without one, all points depend on the first finding."""
    if grade.by_hand:
        return  # the instructor has set the points of the whole lesson
    if grade.status == GradeStatus.GRADED:
        yield from of_another_lesson(grade)
        missing = {
            part.actual: check.advice
            for check in reversed(grade.checks)
            for part in check.parts
            if part.advice == SUBMIT_IT and SUBMIT_IT not in check.advice.lower()
        }
        runs = grouped((job, run) for run, job in reversed(missing.items()))
        named = {job: enumerated(of_job, MOST_NAMED) for job, of_job in runs.items()}
        jobs = {run: f"{named[job]}. {sentence(job)}" for run, job in missing.items()}
        for check in grade.checks:
            if check.status == WAITS:
                yield from ((part.advice, check.title, 0.0) for part in check.parts if part.advice)
                continue
            open_points = check.points - check.score >= LEAST
            if open_points and not check.by_hand:
                yield from ways(check, jobs)
    elif grade.status not in (GradeStatus.EXCUSED, GradeStatus.GRADER_ERROR):
        notes = [note for note in grade.findings if note.advice and not note.private]
        for note in filter(for_student, notes[:1]):
            yield note.advice, grade.title or note.title, grade.max_score


def of_another_lesson(grade: Grade) -> Iterator[tuple[str, str, float]]:
    """Yield advice about outputs of another lesson, which may explain the missing values."""
    unmeasured = [check for check in grade.checks if check.status == NOT_MEASURED]
    lost = sum(check.points - check.score for check in unmeasured)
    for note in grade.findings:
        if note.code == FindingCode.OTHER_LESSON and lost >= LEAST:
            yield note.advice, note.title, lost


def lesson_number(grade: Grade) -> str:
    """Return the lesson's number; empty if the lesson is unknown."""
    return "" if grade.lesson in NO_LESSONS else grade.lesson


def ways(check: Check, jobs: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Yield each piece of advice, its subject and the points at stake, per answer or per check."""
    shares = sum(part.credit for part in check.parts) / max(len(check.parts), 1)
    missed = [part for part in check.parts if part.credit < 1]
    if missed and all(part.code in LEFT_TO_INSTRUCTOR for part in missed):
        return
    adds_up = len(check.parts) > 1 and abs(shares * check.points - check.score) <= LEAST
    # If all parts have the same credit, one reason covers all of them.
    if not adds_up or not any(shares > part.credit for part in missed):
        yield from whole(check, jobs)
        return
    for part in missed:
        if part.code in LEFT_TO_INSTRUCTOR or (part.advice and not for_student(part)):
            continue
        lost = (1 - part.credit) * check.points / len(check.parts)
        hint = AGAIN if any(other.advice for other in check.parts) else check.advice or AGAIN
        yield with_cause(part, part.advice or hint, jobs), part.name, lost


def whole(check: Check, jobs: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """Yield one next step for the whole check, unless its advice is for the instructor."""
    advising = [part for part in check.parts if part.status != PASSED and part.advice]
    advising.sort(key=lambda part: part.code not in NOT_RUN)
    if not advising or for_student(advising[0]):
        do = check.advice or f"compare what was expected with what was found: {check.expected}"
        do = with_cause(advising[0], do, jobs) if advising else do
        yield do, check.title, check.points - check.score


def with_cause(part: Part, advice: str, jobs: Mapping[str, str]) -> str:
    """Return the advice. If a run is missing, say so first, alike for all checks on its job."""
    if part.code != ReasonCode.RUN_UNFINISHED and part.advice != SUBMIT_IT:
        return sentence(advice)
    return jobs.get(part.actual, f"{part.actual}. {sentence(part.advice)}")
