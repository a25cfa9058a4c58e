"""One line of the class table for each grade: little enough to keep for ten thousand students."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.records import Where
from autograder.verdict import Grade

Print = tuple[str, str, str]  # a run's fingerprint, its launch, where it begins


@dataclass(frozen=True, slots=True)
class Row:
    student: str
    lesson: str
    title: str
    status: str
    score: float | None
    raw_score: float | None
    max_score: float
    tier: str
    look: tuple[str, ...]
    checks: tuple[tuple[str, float, float, str], ...]  # id, score, points, status
    page: str  # file of the student's page
    handed_in: str | None = None
    epoch_s: float | None = None
    speedup: float | None = None
    fingerprints: tuple[Print, ...] = ()
    adjustments: tuple[str, ...] = ()
    late_points: float = 0.0
    runs: int = 0  # that the checks speak of
    small_runs: int = 0  # of these, smaller than the profile asks
    told: tuple[tuple[str, str], ...] = ()  # id of a check, and what it found, in words


def row_of(grade: Grade, page: str) -> Row:
    times = [r.epoch_s.value for r in grade.runs if r.counted and r.epoch_s]
    speedups = [r.speedup.value for r in grade.runs if r.speedup and r.outcome == "completed"]
    return Row(
        student=grade.student,
        lesson=grade.lesson,
        title=grade.title,
        status=grade.status,
        score=grade.score,
        raw_score=grade.raw_score,
        max_score=grade.max_score,
        tier=grade.tier if grade.status == "graded" else "",
        look=grade.look,
        checks=tuple((c.id, c.score, c.points, c.status) for c in grade.checks),
        page=page,
        handed_in=grade.handed_in,
        epoch_s=times[0] if times else None,
        speedup=max(speedups, default=None),
        fingerprints=tuple(
            sorted(
                (r.fingerprint, r.launch, place(r.where))
                for r in grade.runs
                if r.epoch_seconds or r.launch
            )
        ),
        adjustments=grade.adjustments,
        late_points=grade.late_points,
        runs=sum(run.counted for run in grade.runs),
        told=tuple((c.id, c.told) for c in grade.checks if c.told),
        small_runs=len({finding.where for finding in grade.findings if finding.kind == "size"}),
    )


def from_data(data: dict[str, Any]) -> Row:
    plain = {name: tuple(data[name]) for name in ("look", "adjustments")}
    pairs = {name: tuple(map(tuple, data[name])) for name in ("checks", "fingerprints", "told")}
    return Row(**data | plain | pairs)


def place(where: Where | None) -> str:
    return f"{where.file}:{where.line}" if where else "?"


def shared_runs(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """(student, lesson) -> sentence, where the same run was handed in by more than one student.

    For the instructor only: who copied from whom, or whether two worked together as they were told
    to, no program can say.
    """
    owners: dict[str, dict[str, Print]] = {}  # fingerprint or launch -> student -> theirs
    for row in rows:
        for print_ in row.fingerprints:
            for key in filter(None, print_[:2]):
                owners.setdefault(key, {}).setdefault(row.student, print_)
    found = {}
    for row in rows:
        if text := shared_with(row, owners):
            found[row.student, row.lesson] = text
    return found


def shared_with(row: Row, owners: dict[str, dict[str, Print]]) -> str:
    """Who else handed in a run of this row, and where both stand; empty: nobody."""
    alike: dict[str, tuple[Print, Print]] = {}
    for print_ in row.fingerprints:
        for key in filter(None, print_[:2]):
            for other, theirs in owners[key].items():
                if other != row.student:
                    alike.setdefault(other, (print_, theirs))
    if not alike:
        return ""
    names = sorted(alike)
    mine, theirs = alike[names[0]]
    changed = "" if mine[0] == theirs[0] else ", with other numbers"
    who = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return f"the same run was also handed in by {who}{changed} ({mine[2]}; {names[0]}: {theirs[2]})"
