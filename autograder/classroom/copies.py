"""Find runs that two students cannot both have made: copies, even partly changed ones.

The results are for the instructor only. No program can know who copied from whom, or whether two
students worked together as they were told to. Each mark is looked up in a table, so the work grows
linearly with the number of runs.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from autograder.codes import EvidenceLevel, FindingCode
from autograder.evidence.examine import OWN_QUEUES
from autograder.notes import Note, make_note
from autograder.verdict import Grade, RunTraits
from autograder.wording import enumerated

MOST_NAMED = 5
SAME_RESULT = 0.002  # difference in one network's accuracy between two kinds of processors
Key = tuple[str, str]  # student and lesson


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


Owners = dict[str, dict[str, Print]]  # mark -> student -> the student's first run
Reasons = Iterator[tuple[Key, Note]]


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
        *(contradictions(prints, code) for code in AGREEMENTS),
    ):
        notes.setdefault(key, note)  # the others follow from the first
    return notes


def shared(
    prints: Sequence[Print], code: FindingCode, marks_of: Callable[[Print], Sequence[str]]
) -> Reasons:
    """Yield the students whose runs have the same marks as those of other students.

    Checking only a few owners of each mark keeps the work per student constant in a large class.
    """
    most = MOST_NAMED + 1 + max((len(run.group) for run in prints), default=0)
    owners: Owners = defaultdict(dict)
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
AGREEMENTS = {
    FindingCode.SHARED_PARAMETERS: ("parameters", "result"),
    FindingCode.SHARED_LOSSES: ("losses", "settings"),
}


def contradictions(prints: Sequence[Print], code: FindingCode) -> Reasons:
    """Yield the students whose run shares only the first of two traits with another student's run.

    An edited record must not cast doubt on the honest ones. So records that contradict themselves
    count only if there are no others, and a run that agrees with most others is not reported.
    """
    shared_trait, equal_trait = AGREEMENTS[code]
    sound: Owners = defaultdict(dict)
    edited: Owners = defaultdict(dict)
    runs = [(run, mark) for run in prints if (mark := getattr(run.traits, shared_trait))]
    for run, mark in runs:
        owners = edited if run.contradicted else sound
        owners[mark].setdefault(min(run.group), run)  # a group counts as one
    judges = {mark: judges_of(same, equal_trait) for mark, same in (edited | sound).items()}
    for run, mark in runs:
        for other in judges[mark]:
            if other.key[0] not in run.group and differ(run, other, equal_trait):
                yield run.key, make_note(code, name=places(run, other))


def judges_of(prints: Mapping[str, Print], trait: str) -> list[Print]:
    """Return the runs with which every other one is compared.

    If more than half of the runs agree with the median, these are two of them, and get its trait.
    Otherwise, they have the lowest and the highest values, and any run differs from one of them.
    With so few, the cost per student is constant in a large class.
    """
    ordered = sorted(prints.values(), key=lambda run: (getattr(run.traits, trait), run.key))
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
