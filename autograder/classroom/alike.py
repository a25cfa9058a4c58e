"""Runs that two students cannot both have made: copies, whatever of them was changed.

For the instructor only: who copied from whom, or whether two worked together as they were told to,
no program can say. Each mark is looked up in a table, so the work grows with the number of runs.
"""

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from autograder.evidence.copies import OWN_QUEUES, SAME_RESULT, Marks
from autograder.records import Where
from autograder.verdict import RunSummary

MOST_NAMED = 5


class Print(NamedTuple):
    """By what a run is known again."""

    fingerprint: str
    launch: str
    place: str  # where it begins
    student: str
    marks: Marks


def prints_of(student: str, runs: Sequence[RunSummary]) -> tuple[Print, ...]:
    prints = [
        Print(run.fingerprint, run.launch, place(run.where), student, Marks(*run.marks))
        for run in runs
        if run.epoch_seconds or run.launch
    ]
    return tuple(sorted(prints, key=lambda print_: print_[:3]))


def place(where: Where | None) -> str:
    return f"{where.file}:{where.line}" if where else "?"


Lesson = tuple[str, str]  # a student and a lesson
Owners = dict[str, dict[str, Print]]  # a mark -> student -> theirs


@dataclass(slots=True)
class Known:
    """All marks of a class, and who has them."""

    room: int  # for partners, in a list of the first names
    accounted: Collection[str]  # jobs that the instructor's accounting holds: one cluster's
    runs: Owners = field(default_factory=dict)  # by fingerprint, launch and seconds
    jobs: Owners = field(default_factory=dict)
    # Losses -> settings, and parameters -> result: who was the first.
    losses: Owners = field(default_factory=dict)
    results: Owners = field(default_factory=dict)
    first_names: dict[int, list[str]] = field(default_factory=dict)  # of a mark's owners, in order


def alike(
    prints: Sequence[tuple[Lesson, Sequence[Print]]],
    accounted: Collection[str] = (),
    partners: Mapping[Lesson, Collection[str]] = MappingProxyType({}),
) -> dict[Lesson, tuple[str, ...]]:
    """(student, lesson) -> sentences on runs that others handed in too; partners are no others."""
    known = Known(max(map(len, partners.values()), default=0), accounted)
    for (student, _), theirs in prints:
        for print_ in theirs:
            add(known, student, print_)
    found = {}
    for lesson, theirs in prints:
        mine = {lesson[0], *partners.get(lesson, ())}
        if told := tuple(sentences(known, mine, theirs)):
            found[lesson] = told
    return found


def add(known: Known, student: str, print_: Print) -> None:
    for mark in run_marks(known, print_):
        known.runs.setdefault(mark, {}).setdefault(student, print_)
    for mark in job_marks(known, print_):
        known.jobs.setdefault(mark, {}).setdefault(student, print_)
    mine = print_.marks
    if mine.losses:
        known.losses.setdefault(mine.losses, {}).setdefault(mine.settings, print_)
    if mine.parameters and mine.result is not None:
        known.results.setdefault(mine.parameters, {}).setdefault(f"{mine.result:.2f}", print_)


def run_marks(_: Known, print_: Print) -> list[str]:
    return [mark for mark in (print_.fingerprint, print_.launch, print_.marks.seconds) if mark]


def job_marks(known: Known, print_: Print) -> list[str]:
    site, _, job = print_.marks.job.rpartition(" ")
    return [print_.marks.job] if job and (site not in OWN_QUEUES or job in known.accounted) else []


# --- in words -------------------------------------------------------------------------------


def sentences(known: Known, student: set[str], prints: Sequence[Print]) -> Iterator[str]:
    """`student`: with all who may have handed in the same."""
    for owners, marks_of in ((known.runs, run_marks), (known.jobs, job_marks)):
        others = others_with(known, owners, marks_of, student, prints)
        if not others:
            continue
        names = sorted(others)
        mine, theirs = others[names[0]]
        who = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
        where = f"({mine.place}; {names[0]}: {theirs.place})"
        if owners is known.runs:
            changed = "" if mine.fingerprint == theirs.fingerprint else ", with other numbers"
            yield f"the same run was also handed in by {who}{changed} {where}"
        else:
            yield f"a run of the same job was also handed in by {who} {where}"
        return  # what else is alike follows from it
    for print_ in prints:
        marks = print_.marks
        same = known.losses.get(marks.losses, {}) if marks.losses else {}
        unlike = [theirs for settings, theirs in same.items() if settings != marks.settings]
        if other := of_another(student, unlike):
            yield (
                "the losses, to the last digit, are those of a run under unlike settings "
                f"({print_.place}; {other.student}: {other.place})"
            )
            return
        results = known.results.get(marks.parameters, {}).values() if marks.parameters else ()
        if other := of_another(student, [one for one in results if differ(one.marks, marks)]):
            yield (
                "the parameters are those of a run with another accuracy "
                f"({print_.place}; {other.student}: {other.place})"
            )
            return


def of_another(student: set[str], prints: Sequence[Print]) -> Print | None:
    """The first of them; a student's own are told with the student's evidence."""
    return next((print_ for print_ in prints if print_.student not in student), None)


def differ(one: Marks, other: Marks) -> bool:
    return abs((one.result or 0.0) - (other.result or 0.0)) > SAME_RESULT


def others_with(
    known: Known,
    owners: Owners,
    marks_of: Callable[[Known, Print], list[str]],
    student: set[str],
    prints: Sequence[Print],
) -> dict[str, tuple[Print, Print]]:
    """Who else has one of these marks, with both runs. Of very many the first ones do."""
    found: dict[str, tuple[Print, Print]] = {}
    for print_ in prints:
        for mark in marks_of(known, print_):
            having = owners[mark]
            if len(having) < 2:
                continue
            names = known.first_names.setdefault(id(having), [])
            names[:] = names or heapq.nsmallest(MOST_NAMED + 2 + known.room, having)
            for other in names:
                if other not in student:
                    found.setdefault(other, (print_, having[other]))
    return found
