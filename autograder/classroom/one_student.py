"""Grade one student: open the folders, read the outputs, judge, and say it as Grade records."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.hand_ins import as_seconds, settle
from autograder.classroom.owners import owners, run_again_as
from autograder.classroom.run_summary import summaries
from autograder.classroom.runs_again import runs_again
from autograder.codes import FindingCode, GradeStatus
from autograder.evidence import examine, programs
from autograder.evidence.examine import Examined
from autograder.judging import judge
from autograder.judging.hand_in import HandIn, Unseen
from autograder.judging.runs_that_count import names_of, run_that_counts
from autograder.measuring.interval import measured_or_none
from autograder.reading.lesson_runs import badly_submitted, lesson_named, not_read, read_runs
from autograder.reading.loose_files import one_folder_a_lesson
from autograder.records import Run, Where
from autograder.safe_text import printable, printable_record, shortened
from autograder.settings.rubric_schema import Rubric, own_readers
from autograder.submissions.answers import WrittenAnswer
from autograder.submissions.folders import Folder, opened
from autograder.submissions.one_lesson import answers_by_content, answers_of, join_places
from autograder.submissions.programs import read_programs
from autograder.submissions.report import report_of
from autograder.submissions.students import Student
from autograder.verdict import (
    BORDERLINE,
    GRADER_ERROR,
    NO_LESSON,
    NOT_MEASURED,
    PACKED,
    Finding,
    Grade,
    LookReason,
    ProgramText,
    make_finding,
)

# Their titles do not say what was left out.
SAYS_LITTLE = (FindingCode.ARCHIVE_LEFT_OUT, FindingCode.LEFT_OUT)
UNSURE = {
    BORDERLINE: FindingCode.CHECK_BORDERLINE,
    NOT_MEASURED: FindingCode.CHECK_NOT_MEASURED,
}
SHORT = 100  # characters of what stands in the class's table in place of a title


def mark_student(student: Student, settings: ClassSettings) -> list[Grade]:
    """All lessons that a student handed in, in the order of the lessons."""
    grades = mark_places(student, settings, student.name)
    if not any(partner.places for partner, _ in student.partners):
        return grades
    return with_partners(student, settings, grades)


def mark_places(student: Student, settings: ClassSettings, handed_in_by: str) -> list[Grade]:
    grades = []
    ids = {lesson: known.answers.keys() for lesson, known in settings.rubrics.items()}
    every_id = {id_ for known in ids.values() for id_ in known}
    with opened(student) as folders:
        for folder in folders:
            answers_by_content(folder, every_id)
        for folder in one_folder_a_lesson(folders, ids):
            try:
                folder.handed_in_by = handed_in_by
                grade = mark_folder(student.name, folder, settings)
                grades.append(to_show(grade))
            except Exception as error:  # ours, not the student's: say so and grade the rest
                grades.append(grader_error(student.name, folder.lesson or "?", settings, error))
    return grades


def with_partners(
    student: Student, settings: ClassSettings, grades: Sequence[Grade]
) -> list[Grade]:
    """One hand-in counts for all of a group: for a lesson that a student handed in nothing for, the
    partner's that was handed in last, else that of the first by name. What of a student's own could
    not be read is said all the same."""
    unread = {grade.lesson: grade for grade in grades if grade.status == GradeStatus.MISSING}
    mine = {grade.lesson: grade for grade in grades if grade.status != GradeStatus.MISSING}
    theirs: dict[str, list[Grade]] = {}
    for partner, lesson in student.partners:
        if not partner.places:
            continue
        places = replace(partner, name=student.name, partners=())
        for grade in mark_places(places, settings, partner.name):
            if (
                grade.lesson in mine
                or grade.status == GradeStatus.MISSING
                or lesson not in (None, grade.lesson)
            ):
                continue
            said = to_show(replace(grade, findings=(by_partner(partner.name), *grade.findings)))
            theirs.setdefault(grade.lesson, []).append(said)
    for lesson, found in theirs.items():
        mine[lesson] = max(found, key=lambda grade: as_seconds(grade.handed_in) or 0.0)
    loose = unread.pop(NO_LESSON, None) if mine else None
    kept = unread | mine
    first, *others = [kept[lesson] for lesson in sorted(kept)]
    if loose and [finding.code for finding in loose.findings] != [FindingCode.NOTHING_FOUND]:
        look = tuple(dict.fromkeys([*first.look, *loose.look]))
        first = replace(first, findings=(*first.findings, *loose.findings), look=look)
    return [first, *others]


def by_partner(name: str) -> Finding:
    expected, found = "one hand-in for a group", "it counts for every member"
    name = shortened(name, 60)
    return make_finding("collect", FindingCode.BY_PARTNER, expected, found, (), name=name)


def to_show(grade: Grade) -> Grade:
    """The grade as every report shows it: what students wrote in it can do no harm."""
    return replace(printable_record(grade), student=printable(grade.student))


def grader_error(student: str, lesson: str, settings: ClassSettings, error: BaseException) -> Grade:
    rubric = settings.rubrics.get(lesson)
    place = ""
    trace = error.__traceback__
    while trace is not None:
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    finding = make_finding(
        "grader",
        FindingCode.GRADER_FAILED,
        "a grade",
        f"{type(error).__name__} in {place}: {shortened(error, 160)}",
        (),
        "instructor: report it with the submission; grade by hand with an override",
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
        look=(LookReason(FindingCode.GRADER_FAILED, GRADER_ERROR),),
    )
    return to_show(grade)


def mark_folder(student: str, folder: Folder, settings: ClassSettings) -> Grade:
    settle(folder, settings.latest)
    join_places(folder)
    if not folder.outputs and not folder.answers:
        return nothing_found(student, folder, settings)
    known = settings.rubrics.get(folder.lesson or "")
    runs = read_runs(folder, own_readers(known))
    folder.findings += [*not_read(runs), *badly_submitted(runs)]
    lesson = folder.lesson or lesson_named(runs)
    rubric = settings.rubrics.get(lesson or "")
    if lesson is None or rubric is None:
        return no_rubric(student, lesson, folder, settings)
    hand_in, findings = hand_in_of(folder, runs, rubric, settings)
    judged = judge.judge(hand_in)
    named = {n: r for n in rubric.runs if (r := measured_or_none(run_that_counts, hand_in, n))}
    seen, texts = evidence_on(hand_in, named, student, folder, settings)
    grade = Grade(
        student=student,
        lesson=lesson,
        title=rubric.title,
        profile=settings.profile,
        status=GradeStatus.GRADED,
        score=judged.score,
        max_score=judged.max_score,
        tier=seen.tier,
        tier_reason=seen.reason,
        checks=judged.checks,
        findings=(*findings, *judged.findings, *seen.findings),
        runs=summaries(hand_in, runs, list(named.values())),
        programs=texts,
        handed_in=folder.handed_in,
    )
    return replace(grade, look=reasons_to_look(grade))


def hand_in_of(
    folder: Folder, runs: Sequence[Run], rubric: Rubric, settings: ClassSettings
) -> tuple[HandIn, list[Finding]]:
    """Return what is judged, and the findings on its files and answers."""
    unread: list[WrittenAnswer] = []
    every_id = {id_ for one in settings.rubrics.values() for id_ in one.answers}
    answers, about_answers = answers_of(folder.answers, every_id, unread)
    report, about_report = report_of(folder.reports)
    findings = [*folder.findings, *about_answers, *about_report]
    packed = [one for one in findings if one.kind == PACKED]
    hand_in = HandIn(
        rubric=rubric,
        runs=runs,
        answers=answers,
        answers_file=next(iter(folder.answers.values()), None),
        report=report,
        profile=settings.profile,
        expected=settings.expected.get(rubric.lesson, {}),
        references=settings.references.get(rubric.lesson, {}),
        unread=unread,
        unseen=[Unseen(one.where[0].file, one.found, one.try_) for one in packed],
        other_ids=every_id,
    )
    return hand_in, findings


def evidence_on(
    hand_in: HandIn,
    named: Mapping[str, Run],
    student: str,
    folder: Folder,
    settings: ClassSettings,
) -> tuple[Examined, tuple[ProgramText, ...]]:
    """Examine the runs and programs. `named` are the runs that count, by their rubric's names."""
    lesson, counted = hand_in.rubric.lesson, list(named.values())
    by = run_again_as(folder, student)
    reruns = [settings.reruns[one, lesson] for one in by if (one, lesson) in settings.reruns]
    sources = examine.Sources(
        settings.jobs,
        [settings.logins.get(owner) for owner in owners(folder, student)],
        hand_in.references,
        runs_again(hand_in, named, reruns),
    )
    seen = examine.examine(hand_in.runs, counted, sources, names_of(hand_in))
    released = settings.released.get(lesson, {})
    return programs.with_programs(seen, counted, read_programs(folder.programs), released)


def no_rubric(student: str, lesson: str | None, folder: Folder, settings: ClassSettings) -> Grade:
    there = ", ".join(sorted(settings.rubrics))
    finding = make_finding(
        "collect",
        FindingCode.LESSON_UNKNOWN,
        f"a folder named after one of the lessons {there}",
        shortened(lesson) if lesson else f"{len(folder.outputs)} outputs without a lesson",
        [Where(name, 0) for name in list(folder.outputs.values())[:3]],
        "name the folder like `02_serial`, or give --lesson",
    )
    return Grade(
        student=student,
        lesson=shortened(lesson) if lesson else "?",
        title="",
        profile=settings.profile,
        status=GradeStatus.NO_RUBRIC,
        score=None,
        max_score=0,
        findings=(*folder.findings, finding),
        look=to_look_at([*folder.findings, finding]),
    )


def nothing_found(student: str, folder: Folder, settings: ClassSettings) -> Grade:
    """An empty place is no zero yet: a file may have been forgotten, or be of another kind. Where
    something could not be opened, that is all that there is to say. Which lesson was meant, the
    name of a folder or an archive may say."""
    named = folder.named & settings.rubrics.keys()
    lesson = folder.lesson or (min(named) if len(named) == 1 else NO_LESSON)
    rubric = settings.rubrics.get(lesson)
    only = f", only {', '.join(folder.others)}" if folder.others else ""
    finding = make_finding(
        "collect",
        FindingCode.NOTHING_FOUND,
        "outputs of jobs and answers.txt",
        f"no file of these kinds{only}",
        [Where(name, 0) for name in folder.others],
        "hand in the lesson's folder with its outputs",
    )
    findings = tuple(folder.findings) or (finding,)
    return Grade(
        student=student,
        lesson=shortened(lesson),
        title=rubric.title if rubric else "",
        profile=settings.profile,
        status=GradeStatus.MISSING,
        score=None,
        max_score=rubric.points if rubric else 0,
        findings=findings,
        look=to_look_at(findings),
    )


def reasons_to_look(grade: Grade) -> tuple[LookReason, ...]:
    unsure = [
        LookReason(UNSURE[check.status], f"{check.id} is {check.status}")
        for check in grade.checks
        if check.status in UNSURE
    ]
    return tuple(dict.fromkeys([*to_look_at(grade.findings), *unsure]))


def to_look_at(findings: Sequence[Finding]) -> tuple[LookReason, ...]:
    """Return the findings' titles. What was left out is named, the first file for all."""
    to_look = [one for one in findings if one.look]
    left_out = [one for one in to_look if one.code in SAYS_LITTLE]
    together = None
    if left_out and len(left_out[0].found) <= SHORT:
        more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
        together = LookReason(left_out[0].code, "Left out", f": {left_out[0].found}{more}")
    reasons = (
        together if together and one.code in SAYS_LITTLE else LookReason(one.code, one.title)
        for one in to_look
    )
    return tuple(dict.fromkeys(reasons))
