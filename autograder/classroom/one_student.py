"""Grade one student: open the folders, read the outputs, judge, and say it as Grade records."""

from dataclasses import replace
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.run_summary import summaries
from autograder.classroom.runs_again import runs_again
from autograder.evidence import examine, programs
from autograder.evidence.copies import marks
from autograder.judging import judge
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import names_of, run_that_counts
from autograder.measuring.interval import measured_or_none
from autograder.reading.lesson_runs import lesson_named, not_read, one_folder_a_lesson, read_runs
from autograder.records import Where
from autograder.safe_text import printable, printable_record, shortened
from autograder.settings.rubric_schema import own_readers
from autograder.submissions.folders import Folder, opened
from autograder.submissions.one_lesson import answers_of, join_places
from autograder.submissions.programs import read_programs
from autograder.submissions.report import report_of
from autograder.submissions.students import Student
from autograder.verdict import (
    BORDERLINE,
    GRADER_ERROR,
    NO_LESSON,
    NOT_MEASURED,
    Finding,
    Grade,
)


def mark_student(student: Student, settings: ClassSettings) -> list[Grade]:
    """All lessons that a student handed in, in the order of the lessons."""
    grades = []
    with opened(student) as folders:
        for folder in one_folder_a_lesson(folders):
            try:
                grade = mark_folder(student.name, folder, settings)
                grades.append(to_show(grade))
            except Exception as error:  # ours, not the student's: say so and grade the rest
                grades.append(grader_error(student.name, folder.lesson or "?", settings, error))
    return grades


def to_show(grade: Grade) -> Grade:
    """The grade as every report shows it: what students wrote in it can do no harm."""
    return replace(printable_record(grade), student=printable(grade.student))


def grader_error(student: str, lesson: str, settings: ClassSettings, error: Exception) -> Grade:
    rubric = settings.rubrics.get(lesson)
    place = ""
    trace = error.__traceback__
    while trace is not None:
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    finding = Finding(
        "grader",
        "The grader failed on this submission. This is not the student's fault",
        expected="a grade",
        found=f"{type(error).__name__} in {place}: {shortened(error, 160)}",
        try_="instructor: report it with the submission; grade by hand with an override",
        look=True,
    )
    grade = Grade(
        student=student,
        lesson=lesson,
        title=rubric.title if rubric else "",
        profile=settings.profile,
        status=GRADER_ERROR,
        score=None,
        max_score=rubric.points if rubric else 0,
        findings=(finding,),
        look=(GRADER_ERROR,),
    )
    return to_show(grade)


def mark_folder(student: str, folder: Folder, settings: ClassSettings) -> Grade:
    join_places(folder)
    if not folder.outputs and not folder.answers:
        return nothing_found(student, folder, settings)
    known = settings.rubrics.get(folder.lesson or "")
    runs = read_runs(folder, own_readers(known))
    folder.findings += not_read(runs)
    lesson = folder.lesson or lesson_named(runs)
    rubric = settings.rubrics.get(lesson or "")
    if lesson is None or rubric is None:
        return no_rubric(student, lesson, folder, settings)
    answers, about_answers = answers_of(folder.answers)
    report, about_report = report_of(folder.reports)
    findings = [*folder.findings, *about_answers, *about_report]
    hand_in = HandIn(
        rubric=rubric,
        runs=runs,
        answers=answers,
        answers_file=next(iter(folder.answers.values()), None),
        report=report,
        profile=settings.profile,
        expected=settings.expected.get(lesson, {}),
        references=settings.references.get(lesson, {}),
        other_ids={id_ for one in settings.rubrics.values() for id_ in one.answers},
    )
    judged = judge.judge(hand_in)
    named = {n: r for n in rubric.runs if (r := measured_or_none(run_that_counts, hand_in, n))}
    counted = list(named.values())
    marked = {id(run): marks(run) for run in runs}
    seen = examine.examine(
        runs,
        counted,
        settings.jobs,
        hand_in.references,
        settings.logins.get(student),
        names_of(runs, rubric),
        marked,
        runs_again(hand_in, named, settings.reruns.get((student, lesson))),
    )
    handed_in = read_programs(folder.programs)
    released = settings.released.get(lesson, {})
    seen, texts = programs.weighed(seen, counted, handed_in, released)
    findings += [*judged.findings, *seen.findings]
    grade = Grade(
        student=student,
        lesson=lesson,
        title=rubric.title,
        profile=settings.profile,
        status="graded",
        score=judged.score,
        max_score=judged.max_score,
        tier=seen.tier,
        tier_reason=seen.reason,
        checks=judged.checks,
        findings=tuple(findings),
        runs=summaries(hand_in, runs, counted, marked),
        programs=texts,
        handed_in=folder.handed_in,
    )
    return replace(grade, look=reasons_to_look(grade))


def no_rubric(student: str, lesson: str | None, folder: Folder, settings: ClassSettings) -> Grade:
    there = ", ".join(sorted(settings.rubrics))
    finding = Finding(
        "collect",
        "It is not clear which lesson this is",
        expected=f"a folder named after one of the lessons {there}",
        found=shortened(lesson) if lesson else f"{len(folder.outputs)} outputs without a lesson",
        where=tuple(Where(name, 0) for name in list(folder.outputs.values())[:3]),
        try_="name the folder like `02_serial`, or give --lesson",
        look=True,
    )
    return Grade(
        student=student,
        lesson=shortened(lesson) if lesson else "?",
        title="",
        profile=settings.profile,
        status="no rubric",
        score=None,
        max_score=0,
        findings=(*folder.findings, finding),
        look=(*(f.title for f in folder.findings if f.look), finding.title),
    )


def nothing_found(student: str, folder: Folder, settings: ClassSettings) -> Grade:
    """An empty place is no zero yet: a file may have been forgotten, or be of another kind. Where
    something could not be opened, that is all that there is to say."""
    rubric = settings.rubrics.get(folder.lesson or "")
    finding = Finding(
        "collect",
        "Nothing found that can be graded",
        expected="outputs of jobs and answers.txt",
        found="no file of these kinds"
        + (f", only {', '.join(folder.others)}" if folder.others else ""),
        where=tuple(Where(name, 0) for name in folder.others),
        try_="hand in the lesson's folder with its outputs",
        look=True,
    )
    findings = tuple(folder.findings) or (finding,)
    return Grade(
        student=student,
        lesson=shortened(folder.lesson or NO_LESSON),
        title=rubric.title if rubric else "",
        profile=settings.profile,
        status="missing",
        score=None,
        max_score=rubric.points if rubric else 0,
        findings=findings,
        look=tuple(dict.fromkeys(f.title for f in findings if f.look)),
    )


def reasons_to_look(grade: Grade) -> tuple[str, ...]:
    reasons = [f.title for f in grade.findings if f.look]
    reasons += [
        f"{check.id} is {check.status}"
        for check in grade.checks
        if check.status in (BORDERLINE, NOT_MEASURED, GRADER_ERROR)
    ]
    return tuple(dict.fromkeys(reasons))
