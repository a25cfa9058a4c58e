"""Find runs that two students cannot both have made: copies, even partly changed ones.

The results are for the instructor only. No program can know who copied from whom, or whether two
students worked together as they were told to. Each mark is looked up in a table, so the work grows
linearly with the number of runs.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from autograder.codes import FindingCode
from autograder.evidence.examine import OWN_QUEUES
from autograder.notes import Note, make_note
from autograder.verdict import RunSummary, RunTraits

MOST_NAMED = 5
SAME_RESULT = 0.002  # difference in one network's accuracy between two kinds of processors


class Print(NamedTuple):
    """The properties that identify a student's run."""

    student: str
    place: str  # file and line where the run begins
    traits: RunTraits


def prints_of(student: str, runs: Sequence[RunSummary]) -> tuple[Print, ...]:
    marked = (run for run in runs if run.traits.marks)
    return tuple(Print(student, str(run.where or "?"), run.traits) for run in marked)


Lesson = tuple[str, str]  # student and lesson
Prints = Sequence[tuple[Lesson, Sequence[Print]]]
Groups = Mapping[Lesson, Collection[str]]  # a student, and all who may have submitted the same
Owners = dict[str, dict[str, Print]]  # mark -> student -> the student's first run
Reasons = Iterator[tuple[Lesson, Note]]


def find_copies(
    prints: Prints,
    accounted: Collection[str] = (),
    partners: Groups = MappingProxyType({}),
    contradicted: Collection[Lesson] = (),
) -> dict[Lesson, Note]:
    """Return, by student and lesson, the runs that somebody other than a partner also submitted.

    `accounted` are the job ids in the instructor's accounting, which is from one cluster.
    """
    by_name = sorted(prints, key=itemgetter(0))
    groups = {lesson: {lesson[0], *partners.get(lesson, ())} for lesson, _ in prints}

    def job_marks(run: Print) -> Sequence[str]:
        site, _, number = run.traits.job.rpartition(" ")
        is_known = number and (site not in OWN_QUEUES or number in accounted)
        return [run.traits.job] if is_known else []

    notes: dict[Lesson, Note] = {}
    for lesson, note in chain(
        shared(by_name, groups, FindingCode.SHARED_RUN, lambda run: run.traits.marks),
        shared(by_name, groups, FindingCode.SHARED_JOB, job_marks),
        *(contradictions(by_name, groups, code, contradicted) for code in AGREEMENTS),
    ):
        notes.setdefault(lesson, note)  # the others follow from the first
    return notes


def shared(
    prints: Prints, groups: Groups, code: FindingCode, marks_of: Callable[[Print], Sequence[str]]
) -> Reasons:
    """Yield the students whose runs have the same marks as those of other students.

    Checking only a few owners of each mark keeps the work per student constant in a large class.
    """
    most = MOST_NAMED + 1 + max(map(len, groups.values()), default=0)
    owners: Owners = defaultdict(dict)
    marked = [
        (lesson, run, mark) for lesson, runs in prints for run in runs for mark in marks_of(run)
    ]
    for (student, _), run, mark in marked:
        owners[mark].setdefault(student, run)
    pairs: dict[Lesson, dict[str, str]] = defaultdict(dict)  # the places, by the other's name
    for lesson, run, mark in marked:
        for student, other in islice(owners[mark].items(), most):
            if student not in groups[lesson]:
                pairs[lesson].setdefault(student, places(run, other))
    for lesson, others in pairs.items():
        names = sorted(others)
        who = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
        yield lesson, make_note(code, name=who + others[names[0]])


def places(run: Print, other: Print) -> str:
    return f" ({run.place}; {other.student}: {other.place})"


# The trait that runs share, and the trait that must then be equal.
AGREEMENTS = {
    FindingCode.SHARED_PARAMETERS: ("parameters", "result"),
    FindingCode.SHARED_LOSSES: ("losses", "settings"),
}


def contradictions(
    prints: Prints, groups: Groups, code: FindingCode, contradicted: Collection[Lesson]
) -> Reasons:
    """Yield the students whose run shares only the first of two traits with another student's run.

    An edited record must not cast doubt on the honest ones. So records that contradict themselves
    count only if there are no others, and a run that agrees with most others is not reported.
    """
    shared_trait, equal_trait = AGREEMENTS[code]
    sound: Owners = defaultdict(dict)
    edited: Owners = defaultdict(dict)
    runs = [
        (lesson, run, getattr(run.traits, shared_trait)) for lesson, own in prints for run in own
    ]
    for lesson, run, mark in runs:
        owners = edited if lesson in contradicted else sound
        owners[mark].setdefault(min(groups[lesson]), run)  # a group counts as one
    judges = {mark: judges_of(same, equal_trait) for mark, same in (edited | sound).items() if mark}
    for lesson, run, mark in runs:
        others = [other for other in judges.get(mark, ()) if other.student not in groups[lesson]]
        for other in [other for other in others if differ(run, other, equal_trait)][:1]:
            yield lesson, make_note(code, name=places(run, other))


def judges_of(prints: Mapping[str, Print], trait: str) -> list[Print]:
    """Return the runs with which every other one is compared.

    If more than half of the runs agree with the median, these are two of them, and get its trait.
    Otherwise, they have the lowest and the highest values, and any run differs from one of them.
    With so few, the cost per student is constant in a large class.
    """
    ordered = sorted(prints.values(), key=lambda run: (getattr(run.traits, trait), run.student))
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
