"""Find what only the whole class shows: copies, rare toolkits, unknown students, missing work.

A program cannot know who copied from whom, or whether two students were allowed to work together.
Findings on copies are therefore for the instructor only. Each mark of a run is looked up in a
table, so the work grows linearly with the number of runs.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from autograder.classroom.adjust import missing
from autograder.classroom.class_settings import ClassSettings
from autograder.codes import EvidenceLevel, FindingCode, GradeStatus
from autograder.evidence.examine import OWN_QUEUES
from autograder.grouping import grouped
from autograder.notes import Note, make_note
from autograder.settings.policy import Key
from autograder.text_hash import folder_hash
from autograder.verdict import GRADER_ERROR, NO_LESSON, UNKNOWN_LESSON, Grade, RunTraits
from autograder.wording import enumerated

FEWEST = 5  # students who do the same; with fewer, it is unknown what is usual
TOOLKIT = Path(__file__).parents[2] / "lessons" / "toolkit"  # may not exist
Reasons = dict[Key, Note]


def with_class(grades: Sequence[Grade], settings: ClassSettings) -> list[Grade]:
    """Return the class's grades with findings on copies, unknown students and missing lessons.

    They are sorted by student.
    """
    by_key = {grade.key: grade for grade in grades}
    changed = {grade.key: grade for grade in with_comparisons(grades, settings)}
    for student, lessons in asked_for(grades, settings).items():
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


def with_comparisons(rows: Sequence[Grade], settings: ClassSettings) -> Iterator[Grade]:
    """Yield the grades with what differs from, or equals, those of other students."""
    prints = [run for row in rows for run in prints_of(row)]
    shared = find_copies(prints, settings.jobs or {})
    unknown = make_note(FindingCode.NOT_IN_ROSTER)
    people = settings.people
    strangers = {row.key: unknown for row in rows if people and row.student not in people}
    others = (shared, lonely_toolkits(rows), strangers)
    for row in rows:
        # The accounting confirms a run that two students submitted only for the student whose
        # account owns the job. Without known accounts it confirms neither.
        tier = row.tier
        if tier == EvidenceLevel.CONFIRMED and row.key in shared:
            tier = tier if settings.login_of(row.student) else EvidenceLevel.SELF_CONSISTENT
        more = [reasons[row.key] for reasons in others if row.key in reasons]
        yield replace(row, tier=tier, findings=(*row.findings, *more))


def asked_for(rows: Sequence[Grade], settings: ClassSettings) -> dict[str, set[str]]:
    """Return each student's expected lessons.

    A student on the roster is expected to submit every lesson that the class submitted. Lessons for
    which the student has an override are added. A lesson in which nobody has counted runs or points
    was submitted by mistake, and is left out.
    """
    meant = [row for row in rows if row.raw_score or any(run.counted for run in row.runs)]
    lessons = {row.lesson for row in meant if row.lesson in settings.rubrics}
    asked = {person: set(lessons) for person in settings.people}
    students = settings.people.keys() | {row.student for row in rows}
    for student, lesson in settings.policy.overrides:
        if lesson in settings.rubrics and student in students:
            asked.setdefault(student, set()).add(lesson)
    return asked


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


# --- copies ---------------------------------------------------------------------------------------

MOST_NAMED = 5
SAME_RESULT = 0.002  # difference in one network's accuracy between two kinds of processors


class Print(NamedTuple):
    """The properties that identify a student's run."""

    key: Key
    place: str  # file and line where the run begins
    traits: RunTraits
    group: Collection[str]  # the student, and all who may have submitted the same
    contradicted: bool = False  # whether the student's record contradicts itself


def prints_of(grade: Grade) -> list[Print]:
    about = {grade.student, *grade.partners}, grade.level == EvidenceLevel.CONTRADICTED
    marked = (run for run in grade.runs if run.traits.marks)
    return [Print(grade.key, str(run.where or "?"), run.traits, *about) for run in marked]


def find_copies(prints: Sequence[Print], accounted: Collection[str] = ()) -> dict[Key, Note]:
    """Return, by student and lesson, the runs that somebody other than a partner also submitted.

    `accounted` are the job ids in the instructor's accounting, which is from one cluster.
    """
    prints = sorted(prints, key=lambda run: run.key)

    def job_marks(run: Print) -> Sequence[str]:
        site, _, number = run.traits.job.rpartition(" ")
        is_known = number and (site not in OWN_QUEUES or number in accounted)
        return [run.traits.job] if is_known else []

    notes: dict[Key, Note] = {}
    for key, note in chain(
        shared(prints, FindingCode.SHARED_RUN, lambda run: run.traits.marks),
        shared(prints, FindingCode.SHARED_JOB, job_marks),
        *(contradictions(prints, *traits) for traits in AGREEMENTS),
    ):
        notes.setdefault(key, note)  # the others follow from the first
    return notes


def shared(
    prints: Sequence[Print], code: FindingCode, marks_of: Callable[[Print], Sequence[str]]
) -> Iterator[tuple[Key, Note]]:
    """Yield the students whose runs have the same marks as those of other students.

    Checking only a few owners of each mark keeps the work per student constant in a large class.
    """
    most = MOST_NAMED + 1 + max((len(run.group) for run in prints), default=0)
    owners: dict[str, dict[str, Print]] = defaultdict(dict)  # the first run of each student
    marked = [(run, mark) for run in prints for mark in marks_of(run)]
    for run, mark in marked:
        owners[mark].setdefault(run.key[0], run)
    pairs: dict[Key, dict[str, str]] = defaultdict(dict)  # the places, by the other's name
    for run, mark in marked:
        for student, other in islice(owners[mark].items(), most):
            if student not in run.group:
                pairs[run.key].setdefault(student, places(run, other))
    for key, others in pairs.items():
        who = enumerated(sorted(others), MOST_NAMED)
        yield key, make_note(code, name=who + others[min(others)])


def places(run: Print, other: Print) -> str:
    return f" ({run.place}; {other.key[0]}: {other.place})"


# The trait that runs share, and the trait that must then be equal.
AGREEMENTS = (("parameters", "result"), ("losses", "settings"))


def contradictions(
    prints: Sequence[Print], shared_trait: str, equal_trait: str
) -> Iterator[tuple[Key, Note]]:
    """Yield the students whose run shares only the first of two traits with another student's run.

    An edited record must not cast doubt on the honest ones. So records that contradict themselves
    count only if there are no others, and a run that agrees with most others is not reported.
    """
    by_trait = grouped((getattr(run.traits, shared_trait), run) for run in prints)
    by_trait.pop("", None)
    for same in by_trait.values():
        sound = [run for run in same if not run.contradicted] or same
        one_per_group = {min(run.group): run for run in reversed(sound)}
        judges = judges_of(one_per_group.values(), equal_trait)
        for run in same:
            for other in judges:
                if other.key[0] not in run.group and differ(run, other, equal_trait):
                    name = places(run, other)
                    yield run.key, make_note(FindingCode.SHARED_RESULT, name=name)


def judges_of(prints: Iterable[Print], trait: str) -> list[Print]:
    """Return the runs with which every other one is compared.

    If more than half of the runs agree with the median, these are two of them, and get its trait.
    Otherwise, they have the lowest and the highest values, and any run differs from one of them.
    With so few, the cost per student is constant in a large class.
    """
    ordered = sorted(prints, key=lambda run: (getattr(run.traits, trait), run.key))
    middle = ordered[(len(ordered) - 1) // 2]
    agree = [run for run in ordered if not differ(run, middle, trait)]
    if 2 * len(agree) > len(ordered):
        return [run._replace(traits=middle.traits) for run in agree[:2]]
    return [*ordered[:2], *ordered[-2:]]


def differ(run: Print, other: Print, trait: str) -> bool:
    value, other_value = getattr(run.traits, trait), getattr(other.traits, trait)
    if isinstance(value, str):
        return bool(value != other_value)
    return bool(abs(value - other_value) > SAME_RESULT)
