"""Find runs that two students cannot both have made: copies, even partly changed ones.

The results are for the instructor only. No program can know who copied from whom, or whether two
students worked together as they were told to. Each mark is looked up in a table, so the work grows
linearly with the number of runs.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from autograder.codes import FindingCode
from autograder.evidence.copies import OWN_QUEUES, results_differ
from autograder.notes import Note, make_note
from autograder.verdict import RunSummary, RunTraits
from autograder.wording import counted

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Print:
    """The properties that identify a run, and the place where the run begins."""

    fingerprint: str
    launch: str
    place: str  # file and line where the run begins
    student: str
    traits: RunTraits


def prints_of(student: str, runs: Sequence[RunSummary]) -> tuple[Print, ...]:
    return tuple(
        Print(
            run.fingerprint,
            run.launch,
            str(run.where) if run.where else "?",
            student,
            run.traits,
        )
        for run in runs
        if run.epoch_seconds or run.launch
    )


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

    def job_marks(print_: Print) -> list[str]:
        job = print_.traits.job
        site, _, number = job.rpartition(" ")
        return [job] if number and (site not in OWN_QUEUES or number in accounted) else []

    reasons = chain(
        shared(by_name, groups, FindingCode.SHARED_RUN, run_marks, ", with other numbers"),
        shared(by_name, groups, FindingCode.SHARED_JOB, job_marks),
        *(unlike(by_name, groups, fact, contradicted) for fact in AGREEMENTS),
    )
    found: dict[Lesson, Note] = {}
    for lesson, reason in reasons:
        found.setdefault(lesson, reason)  # the others follow from the first
    return found


# --- marks of a single student -----------------------------------------------------------------


def run_marks(print_: Print) -> list[str]:
    traits = print_.traits
    marks = (print_.fingerprint, print_.launch, traits.seconds, traits.pauses, traits.drawn)
    return [mark for mark in marks if mark]


def shared(
    prints: Prints,
    groups: Groups,
    code: FindingCode,
    marks_of: Callable[[Print], list[str]],
    changed: str = "",
) -> Reasons:
    """Yield the students whose runs have the same marks as those of other students.

    `changed` is added if only some numbers of the runs are equal. Checking only a few owners of
    each mark keeps the work per student constant in a large class.
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
        how = "" if one.fingerprint == other.fingerprint else changed
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """A fact that must be equal in all runs that share a mark."""

    code: FindingCode
    mark_of: Callable[[RunTraits], str]  # empty: the fact is unknown
    value: Callable[[RunTraits], Any]
    differ: Callable[[RunTraits, RunTraits], bool]


AGREEMENTS = (
    Agreement(
        FindingCode.SHARED_PARAMETERS,
        mark_of=lambda traits: traits.parameters,
        value=lambda traits: traits.result,
        differ=results_differ,
    ),
    Agreement(
        FindingCode.SHARED_LOSSES,
        mark_of=lambda traits: traits.losses,
        value=lambda traits: traits.settings,
        differ=lambda one, other: one.settings != other.settings,
    ),
)


def unlike(
    prints: Prints, groups: Groups, fact: Agreement, contradicted: Collection[Lesson]
) -> Reasons:
    """Yield the students with a run that differs in this fact from another student's run.

    Differences between a student's own runs are reported with the student's evidence. An edited
    record must not cast doubt on the honest ones, so records that contradict themselves count only
    if there are no others.
    """
    sound: Owners = defaultdict(dict)
    edited: Owners = defaultdict(dict)
    marked = [
        (lesson, print_, mark)
        for lesson, mine in prints
        for print_ in mine
        if (mark := fact.mark_of(print_.traits))
    ]
    for lesson, print_, mark in marked:
        owners = edited if lesson in contradicted else sound
        owners[mark].setdefault(min(groups[lesson]), print_)  # a group counts as one
    judges = {mark: judges_of(same, fact) for mark, same in (edited | sound).items()}
    for lesson, print_, mark in marked:
        typical, others = judges[mark]
        for other in others:
            unequal = fact.differ((typical or other).traits, print_.traits)
            if unequal and other.student not in groups[lesson]:
                yield lesson, make_note(fact.code, name=places(print_, other))
                break


def judges_of(prints: Mapping[str, Print], fact: Agreement) -> tuple[Print | None, list[Print]]:
    """Return a run that agrees with more than half of the runs, and two such runs.

    If there is no such run, return None and the two runs with the lowest and the two with the
    highest values. A value that more than half of the runs share is always the median. A run that
    differs from any other run also differs from the lowest or the highest value. With so few runs,
    the cost per student is constant in a large class.
    """
    ordered = sorted(prints.values(), key=lambda one: (fact.value(one.traits), one.student))
    middle = ordered[(len(ordered) - 1) // 2]
    agree = [one for one in ordered if not fact.differ(one.traits, middle.traits)]
    if 2 * len(agree) > len(ordered):
        return middle, agree[:2]
    return None, [*ordered[:2], *ordered[-2:]]
