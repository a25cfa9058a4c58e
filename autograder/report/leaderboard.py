"""Make a leaderboard of speed, by pseudonym, for students who want to be on it.

Students whose intervals overlap share a place. The board includes only runs whose speed the rubric
grades, leaves out contradicted runs, and compares only runs on the same number of ranks.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.rows import Row
from autograder.codes import EvidenceLevel, GradeStatus, Outcome
from autograder.errors import SettingsError
from autograder.report.back.records import read_record
from autograder.report.rendering import render
from autograder.report.tables import to_csv
from autograder.safe_text import printable, shortened
from autograder.settings.claims import Claim, WhoIs, one_spelling, owners, plain
from autograder.settings.roster import Person
from autograder.settings.rubric_schema import Profile, Rubric
from autograder.strict_csv import read_csv
from autograder.verdict import Grade, Point, RunSummary
from autograder.wording import counted
from autograder.writing import write_if_new

Graded = Mapping[str, Collection[str]]  # lesson -> its runs whose speed is graded

LONGEST = 40  # characters of a pseudonym
# What a rubric grades about the speed of several ranks.
SPEEDS = {"speedup", "efficiency", "rounds_speedup", "rounds_share", "study_speedup",
          "study_efficiency"}  # fmt: skip
HEAD = ("lesson", "run", "workers", "place", "name", "speedup", "low", "high", "evidence", "device")


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    speedup: Point
    tier: str
    device: str
    place: int = 0


Boards = Mapping[tuple[str, str, str, int], Sequence[Entry]]  # lesson, title, run, workers


def read_names(
    path: Path, people: Mapping[str, Person], graded: Collection[str], who: WhoIs
) -> dict[str, str]:
    """Return pseudonyms by student.

    A pseudonym must not be the name of another graded student, nor any identifier of another
    student in the roster.
    """
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    called = [(one, (spelt(one),)) for one in {*graded, *people}]
    called += [(one, (spelt(person.full_name),)) for one, person in people.items()]
    real = owners(called)
    for where, row in read_csv(path, ["student", "pseudonym"], []):
        known = who(Claim(row["student"])).students
        student = known[0] if len(known) == 1 else one_spelling(row["student"])
        name = printable(row["pseudonym"], LONGEST)
        if student in names:
            raise SettingsError(f"{where}: {shortened(student)} appears twice in this file")
        if (other := taken.setdefault(name.casefold(), student)) != student:
            raise SettingsError(f"{where}: {name!r} is also the pseudonym of {shortened(other)}")
        if {*real.get(spelt(name), ()), *who(Claim(name)).students} - {student}:
            raise SettingsError(f"{where}: {name!r} is the name of somebody else in the class")
        names[student] = name
    return names


def spelt(name: str) -> str:
    return plain(name) or name.casefold()


def speed_graded(rubrics: Mapping[str, Rubric], profile: Profile) -> Graded:
    """Return, by lesson, the names of the runs whose speed earns points."""
    return {
        lesson: {
            name
            for check in rubric.checks
            for condition in check.require
            if condition.metric in SPEEDS and {check.only, condition.only} <= {None, profile}
            for name in condition.of
        }
        for lesson, rubric in rubrics.items()
    }


def boards(
    names: Mapping[str, str],
    graded: Graded,
    rows: Sequence[Row],
    record_of: Callable[[str], Sequence[Grade]],
) -> Boards:
    """Return the leaderboards. `record_of` returns the grades on a student's page."""
    pages = {row.student: row.page for row in rows if row.page}
    found: dict[tuple[str, str, str, int], list[Entry]] = defaultdict(list)
    for student, name in sorted(names.items()):
        page = pages.get(printable(student))
        for grade in record_of(page) if page else ():
            for run, speedup in speeds(grade, graded):
                board = (grade.lesson, grade.title, run.name, run.workers or 0)
                found[board].append(Entry(name, speedup, grade.tier, run.device))
    return {board: places(entries) for board, entries in sorted(found.items())}


def speeds(grade: Grade, graded: Graded) -> Iterator[tuple[RunSummary, Point]]:
    """Yield the counted multi-rank runs with their speedup: from rounds, or over one rank."""
    names = graded.get(grade.lesson, ())
    if grade.status != GradeStatus.GRADED or grade.tier == EvidenceLevel.CONTRADICTED:
        return
    for run in grade.runs:
        if run.name not in names or not run.counted or run.outcome != Outcome.COMPLETED:
            continue
        speedup = run.rounds.speedup if run.rounds else run.speedup
        if speedup and (run.workers or 0) > 1:
            yield run, speedup


def places(those: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries with their places.

    A student is ahead of another only if their whole interval is higher.
    """
    ordered = sorted(those, key=lambda one: (-one.speedup.value, one.name))
    return tuple(
        replace(one, place=1 + sum(other.speedup.low > one.speedup.high for other in those))
        for one in ordered
    )


# --- as files ---------------------------------------------------------------------------------


def write(
    rows: Sequence[Row],
    out: Path,
    people: Collection[str],
    settings: ClassSettings,
    names: Mapping[str, str],
) -> str:
    """Write the page and the table. Return a sentence about them."""
    graded = speed_graded(settings.rubrics, settings.profile)
    made = boards(names, graded, rows, partial(read_record, out))
    page = render("leaderboard.html.j2", boards=made, heading=settings.heading)
    write_if_new(out / "leaderboard.html", page)
    write_if_new(out / "leaderboard.csv", table(made))
    there = {one.name for entries in made.values() for one in entries}
    asked = counted(len(names), "student")
    text = f"leaderboard.html: {len(there)} of {asked} who asked to be on it"
    if strange := sorted(set(names) - {row.student for row in rows} - set(people)):
        text += f"; not in this class: {', '.join(shortened(name, 60) for name in strange[:5])}"
    return text


def table(made: Boards) -> str:
    lines: list[Sequence[object]] = [HEAD]
    for (lesson, _, run, workers), entries in made.items():
        for one in entries:
            speedup = (one.speedup.value, one.speedup.low, one.speedup.high)
            mine = (one.place, one.name, *speedup, one.tier, one.device)
            lines.append((lesson, run, workers, *mine))
    return to_csv(lines)


def for_gradescope(grades: Sequence[Grade], graded: Graded) -> list[dict[str, Any]]:
    """Return the leaderboard for Gradescope, which itself asks for names and sorts the entries."""
    values: list[dict[str, Any]] = []
    for grade in grades:
        mine = list(speeds(grade, graded))
        for run, speedup in mine:
            name = f"{grade.lesson} {run.name}: speedup on {run.workers} ranks"
            values.append({"name": name, "value": round(speedup.value, 3), "order": "desc"})
        if mine:
            values.append({"name": f"{grade.lesson} evidence", "value": grade.tier})
    return values
