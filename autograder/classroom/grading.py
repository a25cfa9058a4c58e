"""Grade one submission: read its files, judge them, and return a Grade."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from traceback import walk_tb

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.reruns import repeated, with_rerun
from autograder.classroom.run_summary import summaries
from autograder.codes import FindingCode, GradeStatus
from autograder.evidence import examine, programs
from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import run_that_counts
from autograder.measuring.interval import measured_or_none
from autograder.notes import Note, make_note
from autograder.reading.files import read_files
from autograder.reading.lesson_runs import badly_submitted, cut_off, recorded_lesson
from autograder.records import Run, Where
from autograder.safe_text import printable_record, shortened
from autograder.settings.rubric_schema import Rubric, own_readers
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.class_folder import Submission
from autograder.submissions.doubts import UNOPENED, note_of
from autograder.submissions.lesson_files import LessonFiles, answers_of, read_places
from autograder.submissions.programs import read_programs
from autograder.submissions.quoted import quoted_lines
from autograder.submissions.report import report_of
from autograder.verdict import GRADER_ERROR, NO_LESSON, PASSED, Check, Grade


def grade(submission: Submission, settings: ClassSettings) -> Grade:
    """Grade a submission, and return the grade for its first student."""
    files = read_places(submission.lesson, submission.places, settings.ids)
    for doubt in submission.doubts:
        files.doubt(doubt)
    if submission.late and not submission.submitted:
        files.doubt(note_of(FindingCode.MARKED_LATE, "", "late"))
    grade = grade_files(files, settings, submission.students, submission.owner)
    return printable_record(replace(grade, handed_in=submission.submitted))


def grader_error(submission: Submission, settings: ClassSettings, error: BaseException) -> Grade:
    """Return the grade of a submission on which the grader failed, with the place in its code."""
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        place = f" in {Path(frame.f_code.co_filename).name}:{line}"
    finding = make_note(
        FindingCode.GRADER_FAILED,
        "a grade",
        f"{type(error).__name__}{place}: {shortened(error, 160)}",
        (),
        "report it with the submission, and grade by hand with an override",
    )
    student, lesson = submission.students[0], submission.lesson or "?"
    grade = settings.without_points(student, lesson, GRADER_ERROR)
    return printable_record(replace(grade, findings=(finding,), handed_in=submission.submitted))


def grade_files(
    files: LessonFiles, settings: ClassSettings, students: Sequence[str], owner: str = ""
) -> Grade:
    """Grade a lesson's files.

    `owner` is the group or student after whom the submission is named.
    """
    if not files.has_work:
        return nothing_found(students[0], files, settings)
    runs = read_files(files.outputs, own_readers(settings.rubrics.get(files.lesson or "")))
    files.findings += [*badly_submitted(runs), *cut_off(runs)]
    lesson = files.lesson or recorded_lesson(runs)
    rubric = settings.rubrics.get(lesson or "")
    if lesson is None or rubric is None:
        return no_rubric(students[0], lesson, files, settings)
    hand_in, findings = hand_in_of(files, runs, rubric, settings)
    judged = judge.judge(hand_in)
    named = {n: r for n in rubric.runs if (r := measured_or_none(run_that_counts, hand_in, n))}
    owners, counted = dict.fromkeys([*students, owner]), list(named.values())
    reruns = [settings.reruns[one, lesson] for one in owners if (one, lesson) in settings.reruns]
    sources = examine.Sources(
        settings.jobs,
        [settings.logins.get(student) for student in students],
        settings.accounting_required,
    )
    seen = examine.examine(runs, counted, sources)
    seen, texts = programs.with_programs(
        seen,
        counted,
        read_programs(files.programs),
        settings.released.get(lesson, {}),
        settings.solved.get(lesson, {}),
        points=judged.score / judged.max_score if judged.max_score else 0,
    )
    again = repeated(hand_in, judged, reruns)
    seen = with_rerun(seen, again, settings.jobs is not None)
    return Grade(
        student=students[0],
        lesson=lesson,
        title=rubric.title,
        profile=settings.profile,
        status=GradeStatus.GRADED,
        score=judged.score,
        max_score=judged.max_score,
        waiting=judged.waiting,
        tier=seen.tier,
        tier_reason=seen.reason,
        checks=judged.checks,
        rerun=again,
        runs=summaries(hand_in, runs, counted),
        quoted=quoted_lines(files.outputs, places_of(judged.checks)),
        programs=texts,
        programs_missing=without_programs(files) if any(r.program for r in counted) else None,
        findings=(*findings, *judged.findings, *seen.findings),
    )


def without_programs(files: LessonFiles) -> bool:
    return not any(name.lower().endswith(".py") for name in files.programs.values())


def places_of(checks: Sequence[Check]) -> Iterator[Where]:
    """Yield the places that the student's page names. Those of missed checks come first."""
    for check in sorted(checks, key=lambda one: one.status == PASSED):
        if not check.hidden:
            yield from check.where
            yield from (where for part in check.parts for where in part.where)


def hand_in_of(
    files: LessonFiles, runs: Sequence[Run], rubric: Rubric, settings: ClassSettings
) -> tuple[HandIn, list[Note]]:
    """Return the submitted work to judge, and the findings about its files and answers."""
    unread: list[WrittenAnswer] = []
    answers, about_answers = answers_of(files.answers, settings.ids, unread)
    report, about_report = report_of(files.reports)
    findings = [*files.findings, *about_answers, *about_report]
    hand_in = HandIn(
        rubric=rubric,
        runs=runs,
        answers=answers,
        answers_file=next(iter(files.answers.values()), None),
        report=report,
        profile=settings.profile,
        expected=settings.expected.get(rubric.lesson, {}),
        references=settings.references.get(rubric.lesson, {}),
        unread=unread,
        unseen=[one for one in findings if one.code in UNOPENED],
        other_ids=settings.ids,
    )
    return hand_in, findings


def no_rubric(
    student: str, lesson: str | None, files: LessonFiles, settings: ClassSettings
) -> Grade:
    name = shortened(lesson) if lesson else ""
    finding = make_note(
        FindingCode.LESSON_UNKNOWN,
        f"a folder named after one of the lessons {', '.join(sorted(settings.rubrics))}",
        name or "nothing that names a lesson",
        [Where(file, 0) for file in list(files.outputs.values())[:3]],
        "name the folder like `02_serial`",
    )
    grade = settings.without_points(student, name or "?", GradeStatus.NO_RUBRIC)
    return replace(grade, findings=(*files.findings, finding))


def nothing_found(student: str, files: LessonFiles, settings: ClassSettings) -> Grade:
    """Return a grade without points, because the folder has no outputs or answers.

    It is not a zero yet: a file may be missing by mistake or have an unknown format. If a file
    could not be opened, this is the only finding.
    """
    found = f"only {', '.join(files.others)}" if files.others else "no outputs and no answers"
    nothing = note_of(FindingCode.NOTHING_FOUND, "", found)
    nothing = replace(nothing, where=tuple(Where(name, 0) for name in files.others))
    lesson = shortened(files.lesson or NO_LESSON)
    grade = settings.without_points(student, lesson, GradeStatus.MISSING)
    return replace(grade, findings=tuple(files.findings or [nothing]))
