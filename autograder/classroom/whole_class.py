"""Find what only the whole class shows: copies, rare toolkits, unknown students, missing work."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.classroom.adjust import missing
from autograder.classroom.alike import alike, prints_of
from autograder.classroom.class_settings import ClassSettings
from autograder.codes import EvidenceLevel, FindingCode, GradeStatus
from autograder.notes import Note, make_note
from autograder.text_hash import folder_hash
from autograder.verdict import GRADER_ERROR, NO_LESSON, Grade

MOST_COMPARED = 10  # unknown names, because comparing is slow in a large class
FEWEST = 5  # students who do the same; with fewer, it is unknown what is usual
TOOLKIT = Path(__file__).parents[2] / "lessons" / "toolkit"  # may not exist
Key = tuple[str, str]  # student and lesson
Reasons = dict[Key, Note]


def with_class(
    grades: Sequence[Grade], people: Collection[str], settings: ClassSettings
) -> list[Grade]:
    """Return the class's grades with findings on copies, unknown students and missing lessons.

    They are sorted by student.
    """
    there = {grade.key: grade for grade in grades}
    changed = with_comparisons(there, people, settings)
    for student, lessons in asked_for(grades, people, settings).items():
        absent = [lesson for lesson in sorted(lessons) if (student, lesson) not in there]
        # The finding on an empty folder moves to each missing lesson.
        empty = next(
            (there[student, no] for no in (NO_LESSON, "?") if (student, no) in there), None
        )
        decided = absent or any((student, one) in settings.policy.overrides for one in lessons)
        if empty and (not decided or empty.status == GRADER_ERROR):
            empty = None
        if empty:
            changed.pop(empty.key, None)
        for lesson in absent:
            grade = missing(student, lesson, settings)
            if empty and grade.status == GradeStatus.MISSING:
                grade = replace(grade, findings=empty.findings)
            changed[grade.key] = grade
    return sorted(most_severe_first([*changed.values()]), key=lambda grade: grade.key)


def with_comparisons(
    there: Mapping[Key, Grade], people: Collection[str], settings: ClassSettings
) -> dict[Key, Grade]:
    """Return the grades with what differs from, or equals, those of other students."""
    rows = [*there.values()]
    prints = [(row.key, prints_of(row.student, row.runs)) for row in rows]
    partners = {row.key: row.partners for row in rows if row.partners}
    contradicted = {row.key for row in rows if row.level == EvidenceLevel.CONTRADICTED}
    shared = alike(prints, settings.jobs or {}, partners, contradicted)
    found = (unknown_students(rows, people), shared, lonely_toolkits(rows), without_programs(rows))
    changed = {}
    for key, row in there.items():
        # The accounting confirms a run that two students submitted only for the student whose
        # account owns the job. Without known accounts it confirms neither.
        tier = row.tier
        if tier == EvidenceLevel.CONFIRMED and key in shared:
            tier = tier if row.student in settings.logins else EvidenceLevel.SELF_CONSISTENT
        more = [reasons[key] for reasons in found if key in reasons]
        changed[key] = replace(row, tier=tier, findings=(*row.findings, *more)) if more else row
    return changed


def most_severe_first(rows: Sequence[Grade]) -> list[Grade]:
    """Sort each row's reasons to look.

    Of two equally severe reasons, the one that is rarer in the class comes first.
    """
    counts = Counter(code for row in rows for code in {note.code for note in row.findings})

    def rank(note: Note) -> tuple[int, int]:
        return note.code.rank, counts[note.code]

    return [replace(row, findings=tuple(sorted(row.findings, key=rank))) for row in rows]


def unknown_students(rows: Sequence[Grade], people: Collection[str]) -> Reasons:
    """Return students missing from the roster, each with the roster name that may be meant.

    The suggested name differs only in case, or it is similar and belongs to a student who submitted
    nothing.
    """
    roster = {*people}
    submitted = {row.student for row in rows}
    spelt = {name.casefold(): name for name in roster}
    absent = [name.casefold() for name in sorted(roster - submitted)]
    unknown = {}
    for number, student in enumerate(sorted(submitted - roster) if roster else ()):
        near = [student.casefold()] if student.casefold() in spelt else []
        if not near and number < MOST_COMPARED:
            near = difflib.get_close_matches(student.casefold(), absent, 1)
        hint = f" (did you mean {spelt[near[0]]}?)" if near else ""
        unknown[student] = make_note(FindingCode.NOT_IN_ROSTER, name=hint)
    return {row.key: unknown[row.student] for row in rows if row.student in unknown}


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
        if student in people or student in students:
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
    toolkits = {
        row.key: {run.toolkit for run in row.runs if run.counted and run.toolkit} for row in rows
    }
    users: dict[str, set[str]] = defaultdict(set)
    for (student, _), hashes in toolkits.items():
        for toolkit in hashes:
            users[toolkit].add(student)
    if max(map(len, users.values()), default=0) < FEWEST:
        return {}
    alone = {toolkit for toolkit, students in users.items() if len(students) == 1}
    alone -= {folder_hash(TOOLKIT)} if alone else set()
    note = make_note(FindingCode.OTHER_TOOLKIT)
    return {key: note for key, hashes in toolkits.items() if alone & hashes}
