"""Grade one submission: read its files, judge them, and return a Grade."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.reruns import repeated, with_rerun
from autograder.codes import FindingCode, GradeStatus, Outcome
from autograder.evidence import examine, programs
from autograder.evidence.examine import traits_of
from autograder.judging import judge
from autograder.judging.hand_in import HandIn, by_time
from autograder.judging.runs_that_count import is_probe, program_of, run_that_counts, runs_compared
from autograder.measuring import measure, rounds
from autograder.measuring.interval import Measure, measured_or_none
from autograder.notes import Note, make_note
from autograder.reading.files import badly_submitted, cut_off, read_files, recorded_lesson
from autograder.records import Run, Where
from autograder.safe_text import printable_record, shortened
from autograder.settings.draws import for_person
from autograder.settings.rubric_schema import Rubric, own_readers
from autograder.submissions.answers import answers_of
from autograder.submissions.class_folder import Submission
from autograder.submissions.doubts import UNOPENED, note_of
from autograder.submissions.kinds import output_name
from autograder.submissions.lesson_files import LessonFiles, read_places
from autograder.submissions.texts import read_programs, report_of
from autograder.verdict import (
    GRADER_ERROR,
    NO_LESSON,
    UNKNOWN_LESSON,
    Grade,
    Point,
    Rounds,
    RunSummary,
)


def grade(submission: Submission, settings: ClassSettings) -> Grade:
    """Grade a submission, and return the grade for its first student."""
    files = read_places(submission.lesson, submission.places)
    for doubt in submission.doubts:
        files.doubt(doubt)
    if submission.late and not submission.submitted:
        files.doubt(note_of(FindingCode.MARKED_LATE, "", "late"))
    grade = grade_files(files, settings, submission.students, submission.folder)
    return printable_record(replace(grade, handed_in=submission.submitted, files=files.digest))


def grader_error(submission: Submission, settings: ClassSettings, error: BaseException) -> Grade:
    """Return the grade of a submission on which the grader failed, with the place in its code."""
    frames = extract_tb(error.__traceback__)[-1:]
    place = "".join(f" in {Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    actual = f"{type(error).__name__}{place}: {shortened(error, 160)}"
    advice = "report it with the submission, and grade by hand with an override"
    finding = make_note(FindingCode.GRADER_FAILED, "a grade", actual, (), advice)
    student, lesson = submission.students[0], submission.lesson or UNKNOWN_LESSON
    grade = settings.without_points(student, lesson, GRADER_ERROR)
    return printable_record(replace(grade, findings=(finding,), handed_in=submission.submitted))


def grade_files(
    files: LessonFiles, settings: ClassSettings, students: Sequence[str], folder: str = ""
) -> Grade:
    """Grade a lesson's files. `folder` may begin with the name of a group that has reruns."""
    if not (files.outputs or files.answers):
        return nothing_found(students[0], files, settings)
    runs = read_files(files.outputs, own_readers(settings.rubrics.get(files.lesson or "")))
    files.findings += [*badly_submitted(runs), *cut_off(runs)]
    for run in runs:  # an empty error output says nothing
        if run.outcome == Outcome.EMPTY and not output_name(run.files[0]).is_error:
            files.doubt(note_of(FindingCode.FILE_EMPTY, run.files[0], "it is empty"))
    lesson = files.lesson or recorded_lesson(runs)
    rubric = settings.rubrics.get(lesson or "")
    if lesson is None or rubric is None:
        return no_rubric(students[0], lesson, files, settings)
    hand_in, findings = hand_in_of(files, runs, rubric, settings, students)
    rubric, judged = hand_in.rubric, judge.judge(hand_in)
    choices = ((name, measured_or_none(run_that_counts, hand_in, name)) for name in rubric.runs)
    chosen = {name: run for name, run in choices if run}
    counted = list(chosen.values())
    probes = [run for name, run in chosen.items() if is_probe(rubric.runs[name])]
    keys = dict.fromkeys((name, lesson) for name in [*students, folder.split("/")[0]])
    reruns = [settings.reruns[key] for key in keys if key in settings.reruns]
    logins = [settings.login_of(student) for student in students]
    seen = examine.examine(runs, counted, settings.jobs, logins, settings.accounting_required)
    seen, texts = programs.with_programs(
        seen,
        counted,
        read_programs(files.programs),
        settings.released.get(lesson, {}),
        settings.solved.get(lesson, {}),
        probes=probes,
    )
    again = repeated(hand_in, judged, reruns) if reruns else ()
    seen = with_rerun(seen, again, settings.jobs is not None) if reruns else seen
    return replace(
        judged,
        student=students[0],
        tier=seen.tier,
        tier_reason=seen.reason,
        rerun=again,
        runs=tuple(summaries(hand_in, runs, chosen)),
        programs=texts,
        findings=(*findings, *judged.findings, *seen.findings),
    )


def hand_in_of(
    files: LessonFiles,
    runs: Sequence[Run],
    rubric: Rubric,
    settings: ClassSettings,
    students: Sequence[str],
) -> tuple[HandIn, list[Note]]:
    """Return the submitted work to judge, and the findings about its files and answers."""
    answers, about_answers = answers_of(files.answers, settings.ids)
    given = {key: answer.text for key, answer in answers.items()}
    rubric = for_person(rubric, given, settings.ids_of(students), settings.term_key)
    report, about_report = report_of(files.reports)
    findings = [*files.findings, *about_answers, *about_report]
    hand_in = HandIn(
        rubric=rubric,
        runs=runs,
        answers=answers,
        report=report,
        profile=settings.profile,
        expected=settings.expected.get(rubric.lesson, {}),
        references=settings.references.get(rubric.lesson, {}),
        unseen=[note for note in findings if note.code in UNOPENED],
    )
    return hand_in, findings


def no_rubric(
    student: str, lesson: str | None, files: LessonFiles, settings: ClassSettings
) -> Grade:
    name = shortened(lesson) if lesson else ""
    finding = make_note(
        FindingCode.NO_RUBRIC if name else FindingCode.LESSON_UNKNOWN,
        f"a folder named after one of the lessons {', '.join(sorted(settings.rubrics))}",
        f"lesson {name}" if name else "nothing that names a lesson",
        [Where(file, 0) for file in list(files.outputs.values())[:3]],
        f"name the folder after its lesson, like `{min(settings.rubrics, default='02')}`"
        + (f", or add the rubric {name}.yaml" if name else ""),
    )
    grade = settings.without_points(student, name or UNKNOWN_LESSON, GradeStatus.NO_RUBRIC)
    return replace(grade, findings=(*files.findings, finding))


def nothing_found(student: str, files: LessonFiles, settings: ClassSettings) -> Grade:
    """Return a grade without points, because the folder has no outputs or answers.

    It is not a zero yet: a file may be missing by mistake or have an unknown format. If a file
    could not be opened, this is the only finding.
    """
    actual = f"only {', '.join(files.others)}" if files.others else "no outputs and no answers"
    places = (Where(name, 0) for name in files.others)
    nothing = note_of(FindingCode.NOTHING_FOUND, "", actual, places)
    lesson = shortened(files.lesson or NO_LESSON)
    grade = settings.without_points(student, lesson, GradeStatus.MISSING)
    return replace(grade, findings=tuple(files.findings or [nothing]))


# --- the runs, as reports show them ------------------------------------------------------------


def summaries(hand_in: HandIn, runs: Sequence[Run], chosen: dict[str, Run]) -> Iterator[RunSummary]:
    """Yield the runs by name. `chosen` has the run that counts for each name."""
    named = reversed(hand_in.runs_by_name.items())  # of several names, the first counts
    names = {run.id: name for name, same in named for run in same}
    sized = [r for r in runs if r.outcome == Outcome.COMPLETED and measure.workers(r)]
    counts_as = {run.id: name for name, run in reversed(chosen.items())}
    # Each program's finished run on the fewest workers is the baseline of its speedups. Of several,
    # the one that counts is, as in the checks.
    sized.sort(key=lambda run: (measure.workers(run), run.id not in counts_as))
    smallest = {program_of(run): run for run in reversed(sized)}
    compared_ids = {run.id for run in runs_compared(hand_in)}
    for run in sorted(runs, key=lambda r: (names.get(r.id, "~"), by_time(r))):
        workers, base = measure.workers(run), smallest.get(program_of(run))
        is_larger = base and (workers or 0) > (measure.workers(base) or 0)
        yield RunSummary(
            name=names.get(run.id, run.format),
            program=program_of(run),
            outcome=run.outcome,
            counted=run.id in counts_as,
            compared=run.id in compared_ids,
            files=run.files,
            job_id=run.job_id and shortened(run.job_id, 40),
            workers=workers,
            device=shortened(run.header.device or "", 80),
            synthetic=bool(run.header.dataset.synthetic),
            epoch_seconds=tuple(e.seconds.value if e.seconds else None for e in run.epochs[:1000]),
            epoch_s=point(measure.epoch_time, run),
            throughput=point(measure.throughput, run),
            test_accuracy=run.test_accuracy.value if run.test_accuracy else None,
            toolkit=(run.program and run.program.toolkit) or "",
            traits=traits_of(run),
            where=run.start,
            speedup=point(measure.speedup, base, run) if base and is_larger else None,
            rounds=rounds_of(run) if run.measured(rounds.NAME) else None,
            problems=tuple(run.problems[:10]),
        )


def point(function: Callable[..., Measure], *runs: Run) -> Point | None:
    value = measured_or_none(function, *runs)
    if value is None:
        return None
    return Point(round(value.value, 6), round(value.low, 6), round(value.high, 6))


def rounds_of(run: Run) -> Rounds | None:
    metrics = (rounds.speedup, rounds.ceiling, rounds.share)
    values = [value for metric in metrics if (value := point(metric, run))]
    if len(values) < len(metrics):
        return None
    shown = rounds.rounds(run)[:40]  # in a picture
    seconds = tuple((r.alone, r.silent, r.together) for r in shown)
    return Rounds(seconds, *values)
