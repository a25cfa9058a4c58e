"""Find runs that two students cannot both have made: copies, even partly changed ones.

The results are for the instructor only. No program can know who copied from whom, or whether two
students worked together as they were told to. Each mark is looked up in a table, so the work grows
linearly with the number of runs.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from operator import itemgetter, ne
from types import MappingProxyType
from typing import Any

from autograder.codes import FindingCode
from autograder.evidence.copies import OWN_QUEUES, SAME_RESULT
from autograder.records import Where
from autograder.verdict import LookReason, RunSummary, RunTraits
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
    prints = [
        Print(run.fingerprint, run.launch, place(run.where), student, run.traits)
        for run in runs
        if run.epoch_seconds or run.launch
    ]
    return tuple(sorted(prints, key=lambda run: (run.fingerprint, run.launch, run.place)))


def place(where: Where | None) -> str:
    return f"{where.file}:{where.line}" if where else "?"


Lesson = tuple[str, str]  # student and lesson
Owners = dict[str, dict[str, Print]]  # mark -> student -> the student's run


@dataclass(frozen=True, slots=True)
class Unique:
    """A kind of mark that the runs of only one student can have."""

    code: FindingCode
    text: str
    marks_of: Callable[[Print], list[str]]
    most: int  # owners to look at, which keeps the work per student constant in a large class
    changed: str = ""  # what to add if only some numbers of the runs are equal
    owners: Owners = field(default_factory=dict)

    def add(self, student: str, print_: Print) -> None:
        for mark in self.marks_of(print_):
            self.owners.setdefault(mark, {}).setdefault(student, print_)

    def reason(self, student: set[str], prints: Sequence[Print]) -> LookReason | None:
        """Return why a student's runs need a look, if other students have runs with the same marks.

        `student` contains the student and everyone who may have submitted the same work.
        """
        others: dict[str, dict[str, tuple[Print, Print]]] = {}  # by name and by our run's place
        for print_ in prints:
            for mark in self.marks_of(print_):
                for other, theirs in islice(self.owners[mark].items(), self.most):
                    if other not in student:
                        others.setdefault(other, {}).setdefault(print_.place, (print_, theirs))
        if not others:
            return None
        names = sorted(others)
        [(mine, theirs), *more] = others[names[0]].values()
        who = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
        changed = "" if mine.fingerprint == theirs.fingerprint else self.changed
        where = places(mine, theirs, len(more), len(names) == 1)
        return LookReason(self.code, self.text, f" by {who}{changed}{where}")


@dataclass(frozen=True, slots=True)
class Agreement:
    """A fact that must be equal in all runs that share a mark.

    An edited record must not cast doubt on the honest ones. If most runs agree, only the runs that
    differ are reported. Records that contradict themselves do not count.
    """

    code: FindingCode
    text: str
    mark_of: Callable[[RunTraits], str]  # empty: the fact is unknown
    value: Callable[[RunTraits], Any]
    differ: Callable[[Any, Any], bool]
    sound: Owners = field(default_factory=dict)  # mark -> a group's student -> first run
    contradicted: Owners = field(default_factory=dict)
    judges: dict[str, tuple[Print | None, list[Print]]] = field(default_factory=dict)

    def add(self, group: str, print_: Print, sound: bool) -> None:
        owners = self.sound if sound else self.contradicted
        if mark := self.mark_of(print_.traits):
            owners.setdefault(mark, {}).setdefault(group, print_)

    def reason(self, student: set[str], print_: Print) -> LookReason | None:
        """Return why a run should be looked at if its fact differs from another student's.

        Differences between a student's own runs are reported with the student's evidence.
        """
        mark = self.mark_of(print_.traits)
        unlike = self.unlike(mark, print_) if mark else []
        other = next((one for one in unlike if one.student not in student), None)
        return LookReason(self.code, self.text, places(print_, other)) if other else None

    def unlike(self, mark: str, print_: Print) -> list[Print]:
        """Return a few runs whose value of `mark` differs from that of this run.

        Limiting their number keeps the cost per student constant in a large class.
        """
        if mark not in self.judges:
            self.judges[mark] = self.judges_of(mark)
        typical, judges = self.judges[mark]
        if typical:
            return judges if self.unequal(typical, print_) else []
        return [other for other in judges if self.unequal(other, print_)]

    def judges_of(self, mark: str) -> tuple[Print | None, list[Print]]:
        """Return a run that agrees with more than half of the runs, and two such runs.

        If there is no such run, return None and the two runs with the lowest and the two with the
        highest values. A value that more than half of the runs share is always the median. A run
        that differs from any other run also differs from the lowest or the highest value.
        """
        prints = self.sound.get(mark) or self.contradicted.get(mark, {})
        ordered = sorted(prints.values(), key=lambda one: (self.value(one.traits), one.student))
        middle = ordered[(len(ordered) - 1) // 2]
        agree = [print_ for print_ in ordered if not self.unequal(print_, middle)]
        if 2 * len(agree) > len(ordered):
            return middle, agree[:2]
        return None, [*ordered[:2], *ordered[-2:]]

    def unequal(self, one: Print, other: Print) -> bool:
        return self.differ(self.value(one.traits), self.value(other.traits))


def alike(
    prints: Sequence[tuple[Lesson, Sequence[Print]]],
    accounted: Collection[str] = (),
    partners: Mapping[Lesson, Collection[str]] = MappingProxyType({}),
    contradicted: Collection[Lesson] = (),
) -> dict[Lesson, LookReason]:
    """Return, by student and lesson, the runs that somebody other than a partner also submitted.

    `accounted` are the job ids in the instructor's accounting, which is from one cluster.
    """
    most = MOST_NAMED + 2 + max(map(len, partners.values()), default=0)
    uniques = unique_marks(accounted, most)
    agreements = agreed_facts()
    for lesson, theirs in sorted(prints, key=itemgetter(0)):  # owners are in order of their names
        group = min([lesson[0], *partners.get(lesson, ())])  # a group counts as one
        for print_ in theirs:
            for kind in uniques:
                kind.add(lesson[0], print_)
            for fact in agreements:
                fact.add(group, print_, lesson not in contradicted)
    found = {}
    for lesson, theirs in prints:
        mine = {lesson[0], *partners.get(lesson, ())}
        reasons = chain(
            (kind.reason(mine, theirs) for kind in uniques),
            (fact.reason(mine, print_) for print_ in theirs for fact in agreements),
        )
        if first := next(filter(None, reasons), None):  # the others follow from it
            found[lesson] = first
    return found


def unique_marks(accounted: Collection[str], most: int) -> list[Unique]:
    run = "the same run was also submitted"
    job = "a run of the same job was also submitted"
    return [
        Unique(FindingCode.SHARED_RUN, run, run_marks, most, ", with other numbers"),
        Unique(FindingCode.SHARED_JOB, job, partial(job_marks, accounted), most),
    ]


def agreed_facts() -> list[Agreement]:
    return [
        Agreement(
            FindingCode.SHARED_LOSSES,
            "the losses equal, to the last digit, those of a run with different settings",
            mark_of=lambda traits: traits.losses,
            value=lambda traits: traits.settings,
            differ=ne,
        ),
        Agreement(
            FindingCode.SHARED_PARAMETERS,
            "the parameters equal those of a run with a different accuracy",
            mark_of=lambda traits: "" if traits.result is None else traits.parameters,
            value=lambda traits: traits.result,
            differ=lambda one, other: abs(one - other) > SAME_RESULT,
        ),
    ]


def run_marks(print_: Print) -> list[str]:
    traits = print_.traits
    marks = (print_.fingerprint, print_.launch, traits.seconds, traits.pauses, traits.drawn)
    return [mark for mark in marks if mark]


def job_marks(accounted: Collection[str], print_: Print) -> list[str]:
    site, _, job = print_.traits.job.rpartition(" ")
    return [print_.traits.job] if job and (site not in OWN_QUEUES or job in accounted) else []


def places(mine: Print, other: Print, more: int = 0, is_named: bool = False) -> str:
    """Return the locations of two runs, and how many more runs their students share.

    `is_named`: whether the text before these places names only the other student.
    """
    alike = is_named and mine.place == other.place
    theirs = f"{mine.place}; {other.student}: {other.place}"
    where = f"{mine.place} of both" if alike else theirs
    return f" ({where}, and {counted(more, 'more run')})" if more else f" ({where})"
