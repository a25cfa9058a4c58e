"""Find what only the whole class shows: copies, rare toolkits, unknown students, missing work."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.classroom.adjust import missing
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.copies import Key, find_copies, prints_of
from autograder.codes import EvidenceLevel, FindingCode, GradeStatus
from autograder.grouping import grouped
from autograder.notes import Note, make_note
from autograder.text_hash import folder_hash
from autograder.verdict import GRADER_ERROR, NO_LESSON, UNKNOWN_LESSON, Grade

FEWEST = 5  # students who do the same; with fewer, it is unknown what is usual
TOOLKIT = Path(__file__).parents[2] / "lessons" / "toolkit"  # may not exist
Reasons = dict[Key, Note]


def with_class(
    grades: Sequence[Grade], people: Collection[str], settings: ClassSettings
) -> list[Grade]:
    """Return the class's grades with findings on copies, unknown students and missing lessons.

    They are sorted by student.
    """
    by_key = {grade.key: grade for grade in grades}
    changed = {grade.key: grade for grade in with_comparisons(grades, people, settings)}
    for student, lessons in asked_for(grades, people, settings).items():
        absent = [lesson for lesson in sorted(lessons) if (student, lesson) not in by_key]
        decided = absent or any((student, name) in settings.policy.overrides for name in lessons)
        # The finding on an empty folder moves to each missing lesson.
        empty = by_key.get((student, NO_LESSON)) or by_key.get((student, UNKNOWN_LESSON))
        moves = empty if empty and decided and empty.status != GRADER_ERROR else None
        if moves:
            del changed[moves.key]
        for lesson in absent:
            grade = missing(student, lesson, settings)
            if moves and grade.status == GradeStatus.MISSING:
                grade = replace(grade, findings=moves.findings)
            changed[grade.key] = grade
    return sorted(changed.values(), key=lambda grade: grade.key)


def with_comparisons(
    rows: Sequence[Grade], people: Collection[str], settings: ClassSettings
) -> Iterator[Grade]:
    """Yield the grades with what differs from, or equals, those of other students."""
    prints = [run for row in rows for run in prints_of(row)]
    shared = find_copies(prints, settings.jobs or {})
    unknown = make_note(FindingCode.NOT_IN_ROSTER)
    strangers = {row.key: unknown for row in rows if people and row.student not in people}
    others = (shared, lonely_toolkits(rows), without_programs(rows), strangers)
    for row in rows:
        # The accounting confirms a run that two students submitted only for the student whose
        # account owns the job. Without known accounts it confirms neither.
        tier = row.tier
        if tier == EvidenceLevel.CONFIRMED and row.key in shared:
            tier = tier if row.student in settings.logins else EvidenceLevel.SELF_CONSISTENT
        more = [reasons[row.key] for reasons in others if row.key in reasons]
        yield replace(row, tier=tier, findings=(*row.findings, *more))


def asked_for(
    rows: Sequence[Grade], people: Collection[str], settings: ClassSettings
) -> dict[str, set[str]]:
    """Return each student's expected lessons.

    A student on the roster is expected to submit every lesson that the class submitted. Lessons for
    which the student has an override are added. A lesson in which nobody has counted runs or points
    was submitted by mistake, and is left out.
    """
    meant = [row for row in rows if row.raw_score or any(run.counted for run in row.runs)]
    lessons = {row.lesson for row in meant if row.lesson in settings.rubrics}
    asked = {person: set(lessons) for person in people}
    students = {row.student for row in rows}
    for student, lesson in settings.policy.overrides:
        if lesson in settings.rubrics and (student in people or student in students):
            asked.setdefault(student, set()).add(lesson)
    return asked


def without_programs(rows: Sequence[Grade]) -> Reasons:
    """Return a reason to look at each submission without programs, if most others have some."""
    submitted = Counter(row.lesson for row in rows if row.programs_missing is False)
    absent = Counter(row.lesson for row in rows if row.programs_missing)
    usual = {lesson for lesson, n in submitted.items() if n >= FEWEST and n > absent[lesson]}
    note = make_note(FindingCode.NO_PROGRAMS)
    return {row.key: note for row in rows if row.programs_missing and row.lesson in usual}


def lonely_toolkits(rows: Sequence[Grade]) -> Reasons:
    """Return a reason to look at each student whose toolkit version nobody else has.

    A version that two students have is not reported, nor is the version installed with the grader.
    """
    runs = [(row, run.toolkit) for row in rows for run in row.runs if run.counted and run.toolkit]
    users = grouped((toolkit, row.student) for row, toolkit in runs)
    is_class = any(len({*students}) >= FEWEST for students in users.values())
    alone = {toolkit for toolkit, students in users.items() if is_class and len({*students}) == 1}
    alone -= {folder_hash(TOOLKIT)} if alone else set()
    note = make_note(FindingCode.OTHER_TOOLKIT)
    return {row.key: note for row, toolkit in runs if toolkit in alone}
