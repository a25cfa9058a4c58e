"""One line of the class table for each grade: little enough to keep for ten thousand students."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.verdict import Grade


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
    fingerprints: tuple[str, ...] = ()
    adjustments: tuple[str, ...] = ()
    runs: int = 0  # that the checks speak of
    small_runs: int = 0  # of these, smaller than the profile asks


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
        fingerprints=tuple(sorted({r.fingerprint for r in grade.runs if r.fingerprint})),
        adjustments=grade.adjustments,
        runs=sum(run.counted for run in grade.runs),
        small_runs=len({finding.where for finding in grade.findings if finding.kind == "size"}),
    )


def from_data(data: dict[str, Any]) -> Row:
    lists = ("look", "fingerprints", "adjustments")
    checks = tuple(tuple(check) for check in data["checks"])
    return Row(**data | {name: tuple(data[name]) for name in lists} | {"checks": checks})


def shared_runs(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """(student, lesson) -> sentence, where the same run was handed in by more than one student.

    For the instructor only: who copied from whom, or whether two worked together as they were told
    to, no program can say.
    """
    owners: dict[str, set[str]] = {}
    for row in rows:
        for fingerprint in row.fingerprints:
            owners.setdefault(fingerprint, set()).add(row.student)
    found = {}
    for row in rows:
        others = {s for f in row.fingerprints for s in owners[f]} - {row.student}
        if others:
            names = ", ".join(sorted(others)[:5]) + (" …" if len(others) > 5 else "")
            found[row.student, row.lesson] = f"the same run was also handed in by {names}"
    return found
