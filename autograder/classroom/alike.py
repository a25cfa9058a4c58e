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
from autograder.wording import counted

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


def alike(
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

    def job_marks(print_: Print) -> Sequence[str]:
        job = print_.traits.job
        site, _, number = job.rpartition(" ")
        return [job] if number and (site not in OWN_QUEUES or number in accounted) else []

    reasons = chain(
        shared(by_name, groups, FindingCode.SHARED_RUN, lambda print_: print_.traits.marks),
        shared(by_name, groups, FindingCode.SHARED_JOB, job_marks),
        *(unlike(by_name, groups, code, contradicted) for code in AGREEMENTS),
    )
    found: dict[Lesson, Note] = {}
    for lesson, reason in reasons:
        found.setdefault(lesson, reason)  # the others follow from the first
    return found


# --- marks of a single student -----------------------------------------------------------------


def shared(
    prints: Prints,
    groups: Groups,
    code: FindingCode,
    marks_of: Callable[[Print], Sequence[str]],
) -> Reasons:
    """Yield the students whose runs have the same marks as those of other students.

    Checking only a few owners of each mark keeps the work per student constant in a large class.
    """
    most = MOST_NAMED + 1 + max(map(len, groups.values()), default=0)
    owners: Owners = defaultdict(dict)
    for (student, _), mine in prints:
        for print_ in mine:
            for mark in marks_of(print_):
                owners[mark].setdefault(student, print_)
    for lesson, mine in prints:
        # By the other student's name, and by the place of this student's run.
        others: dict[str, dict[str, tuple[Print, Print]]] = defaultdict(dict)
        for print_ in mine:
            for mark in marks_of(print_):
                for student, theirs in islice(owners[mark].items(), most):
                    if student not in groups[lesson]:
                        others[student].setdefault(print_.place, (print_, theirs))
        if not others:
            continue
        names = sorted(others)
        [(one, other), *more] = others[names[0]].values()
        who = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
        how = "" if one.traits.marks == other.traits.marks else ", with other numbers"
        where = places(one, other, len(more), len(names) == 1)
        yield lesson, make_note(code, name=f"{who}{how}{where}")


def places(mine: Print, other: Print, more: int = 0, is_named: bool = False) -> str:
    """Return the locations of two runs, and how many more runs their students share.

    `is_named`: whether the text before these places names only the other student.
    """
    alike = is_named and mine.place == other.place
    theirs = f"{mine.place}; {other.student}: {other.place}"
    where = f"{mine.place} of both" if alike else theirs
    return f" ({where}, and {counted(more, 'more run')})" if more else f" ({where})"


# --- facts that must be equal ------------------------------------------------------------------


# The trait that runs share, and the trait that must then be equal.
AGREEMENTS = {
    FindingCode.SHARED_PARAMETERS: ("parameters", "result"),
    FindingCode.SHARED_LOSSES: ("losses", "settings"),
}


def unlike(
    prints: Prints, groups: Groups, code: FindingCode, contradicted: Collection[Lesson]
) -> Reasons:
    """Yield the students whose run shares only the first of two traits with another student's run.

    An edited record must not cast doubt on the honest ones. So records that contradict themselves
    count only if there are no others, and a run that agrees with most others is not reported.
    """
    shared_trait, equal_trait = AGREEMENTS[code]
    sound: Owners = defaultdict(dict)
    edited: Owners = defaultdict(dict)
    marked = [
        (lesson, print_, mark)
        for lesson, mine in prints
        for print_ in mine
        if (mark := getattr(print_.traits, shared_trait))
    ]
    for lesson, print_, mark in marked:
        owners = edited if lesson in contradicted else sound
        owners[mark].setdefault(min(groups[lesson]), print_)  # a group counts as one
    judges = {mark: judges_of(same, equal_trait) for mark, same in (edited | sound).items()}
    for lesson, print_, mark in marked:
        typical, others = judges[mark]
        for other in others:
            unequal = differ(typical or other, print_, equal_trait)
            if unequal and other.student not in groups[lesson]:
                yield lesson, make_note(code, name=places(print_, other))
                break


def judges_of(prints: Mapping[str, Print], trait: str) -> tuple[Print | None, list[Print]]:
    """Return a run that agrees with more than half of the runs, and two such runs.

    If there is no such run, return None and the two runs with the lowest and the two with the
    highest values. A value that more than half of the runs share is always the median. A run that
    differs from any other run also differs from the lowest or the highest value. With so few runs,
    the cost per student is constant in a large class.
    """
    ordered = sorted(prints.values(), key=lambda one: (getattr(one.traits, trait), one.student))
    middle = ordered[(len(ordered) - 1) // 2]
    agree = [one for one in ordered if not differ(one, middle, trait)]
    if 2 * len(agree) > len(ordered):
        return middle, agree[:2]
    return None, [*ordered[:2], *ordered[-2:]]


def differ(one: Print, other: Print, trait: str) -> bool:
    value, other_value = getattr(one.traits, trait), getattr(other.traits, trait)
    if isinstance(value, str):
        return bool(value != other_value)
    return bool(abs(value - other_value) > SAME_RESULT)
