"""Find runs that two students cannot both have made: copies, even partly changed ones.

The results are for the instructor only. No program can know who copied from whom, or whether two
students worked together as they were told to. Each mark is looked up in a table, so the work grows
linearly with the number of runs.
"""

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import ne
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
class Agreement:
    """A fact that must be equal in all runs that share a mark.

    An edited record must not cast doubt on the honest ones. If most runs agree, only the runs that
    differ are reported. Records that contradict themselves do not count.
    """

    value: Callable[[Print], Any]  # of a run
    differ: Callable[[Any, Any], bool]
    sound: Owners = field(default_factory=dict)  # mark -> a group's student -> first run
    contradicted: Owners = field(default_factory=dict)
    judges: dict[str, tuple[Print | None, list[Print]]] = field(default_factory=dict)

    def add(self, mark: str, group: str, print_: Print, sound: bool) -> None:
        owners = self.sound if sound else self.contradicted
        owners.setdefault(mark, {}).setdefault(group, print_)

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
        ordered = sorted(prints.values(), key=lambda print_: (self.value(print_), print_.student))
        middle = ordered[(len(ordered) - 1) // 2]
        agree = [print_ for print_ in ordered if not self.unequal(print_, middle)]
        if 2 * len(agree) > len(ordered):
            return middle, agree[:2]
        return None, [*ordered[:2], *ordered[-2:]]

    def unequal(self, one: Print, other: Print) -> bool:
        return self.differ(self.value(one), self.value(other))


@dataclass(slots=True)
class Known:
    """The identifying marks of a class's runs, and the students whose runs have them."""

    room: int  # more names, so that partners can be skipped
    accounted: Collection[str]  # job ids in the instructor's accounting, which is from one cluster
    runs: Owners = field(default_factory=dict)  # by fingerprint, launch and seconds
    jobs: Owners = field(default_factory=dict)
    losses: Agreement = field(
        default_factory=lambda: Agreement(lambda run: run.traits.settings, differ=ne)
    )
    results: Agreement = field(
        default_factory=lambda: Agreement(
            lambda run: run.traits.result or 0.0,
            differ=lambda one, other: abs(one - other) > SAME_RESULT,
        )
    )
    first_names: dict[int, list[str]] = field(default_factory=dict)  # by mark, sorted


def alike(
    prints: Sequence[tuple[Lesson, Sequence[Print]]],
    accounted: Collection[str] = (),
    partners: Mapping[Lesson, Collection[str]] = MappingProxyType({}),
    contradicted: Collection[Lesson] = (),
) -> dict[Lesson, tuple[LookReason, ...]]:
    """Return, by student and lesson, the runs that somebody other than a partner also submitted."""
    known = Known(max(map(len, partners.values()), default=0), accounted)
    for lesson, theirs in prints:
        group = min([lesson[0], *partners.get(lesson, ())])  # a group counts as one
        for print_ in theirs:
            add(known, lesson[0], print_, group, lesson not in contradicted)
    reasons_of = {}
    for lesson, theirs in prints:
        mine = {lesson[0], *partners.get(lesson, ())}
        if reasons := tuple(reasons_to_look(known, mine, theirs)):
            reasons_of[lesson] = reasons
    return reasons_of


def add(owners: Known, student: str, print_: Print, group: str, sound: bool) -> None:
    for mark in run_marks(owners, print_):
        owners.runs.setdefault(mark, {}).setdefault(student, print_)
    for mark in job_marks(owners, print_):
        owners.jobs.setdefault(mark, {}).setdefault(student, print_)
    mine = print_.traits
    if mine.losses:
        owners.losses.add(mine.losses, group, print_, sound)
    if mine.parameters and mine.result is not None:
        owners.results.add(mine.parameters, group, print_, sound)


def run_marks(_: Known, print_: Print) -> list[str]:
    return [mark for mark in (print_.fingerprint, print_.launch, print_.traits.seconds) if mark]


def job_marks(known: Known, print_: Print) -> list[str]:
    site, _, job = print_.traits.job.rpartition(" ")
    return [print_.traits.job] if job and (site not in OWN_QUEUES or job in known.accounted) else []


# --- in words -------------------------------------------------------------------------------


def reasons_to_look(
    known: Known, student: set[str], prints: Sequence[Print]
) -> Iterator[LookReason]:
    """Yield the reasons to look at a student's runs.

    `student` contains the student and everyone who may have submitted the same work.
    """
    for owners, marks_of in ((known.runs, run_marks), (known.jobs, job_marks)):
        others = others_with(known, owners, marks_of, student, prints)
        if not others:
            continue
        names = sorted(others)
        [(mine, theirs), *more] = others[names[0]].values()
        who = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
        where = places(mine, theirs, len(more), len(names) == 1)
        if owners is known.runs:
            changed = "" if mine.fingerprint == theirs.fingerprint else ", with other numbers"
            text = "the same run was also submitted"
            yield LookReason(FindingCode.SHARED_RUN, text, f" by {who}{changed}{where}")
        else:
            text = "a run of the same job was also submitted"
            yield LookReason(FindingCode.SHARED_JOB, text, f" by {who}{where}")
        return  # other shared marks follow from this one
    for print_ in prints:
        traits = print_.traits
        unlike = known.losses.unlike(traits.losses, print_) if traits.losses else []
        if other := first_of_others(student, unlike):
            text = "the losses equal, to the last digit, those of a run with different settings"
            yield LookReason(FindingCode.SHARED_LOSSES, text, places(print_, other))
            return
        known_result = traits.parameters and traits.result is not None
        unlike = known.results.unlike(traits.parameters, print_) if known_result else []
        if other := first_of_others(student, unlike):
            text = "the parameters equal those of a run with a different accuracy"
            yield LookReason(FindingCode.SHARED_PARAMETERS, text, places(print_, other))
            return


def places(mine: Print, other: Print, more: int = 0, is_named: bool = False) -> str:
    """Return the locations of two runs, and how many more runs their students share.

    `is_named`: whether the text before these places names only the other student.
    """
    alike = is_named and mine.place == other.place
    theirs = f"{mine.place}; {other.student}: {other.place}"
    where = f"{mine.place} of both" if alike else theirs
    return f" ({where}, and {counted(more, 'more run')})" if more else f" ({where})"


def first_of_others(student: set[str], prints: Sequence[Print]) -> Print | None:
    """Return the first run that belongs to another student.

    Matches between a student's own runs are reported with the student's evidence.
    """
    return next((print_ for print_ in prints if print_.student not in student), None)


def others_with(
    known: Known,
    owners: Owners,
    marks_of: Callable[[Known, Print], list[str]],
    student: set[str],
    prints: Sequence[Print],
) -> dict[str, dict[str, tuple[Print, Print]]]:
    """Map each other student to the pairs of runs that share a mark, keyed by our run's place.

    If there are very many such students, return only the first ones.
    """
    others: dict[str, dict[str, tuple[Print, Print]]] = {}
    for print_ in prints:
        for mark in marks_of(known, print_):
            having = owners[mark]
            if len(having) < 2:
                continue
            names = known.first_names.setdefault(id(having), [])
            names[:] = names or heapq.nsmallest(MOST_NAMED + 2 + known.room, having)
            for other in names:
                if other not in student:
                    pair = print_, having[other]
                    others.setdefault(other, {}).setdefault(print_.place, pair)
    return others
