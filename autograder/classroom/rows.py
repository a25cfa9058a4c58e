"""Make a class-table row from a grade, small enough for ten thousand students in memory."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from autograder.classroom.alike import Print, prints_of
from autograder.codes import GradeStatus, Outcome
from autograder.safe_text import file_name
from autograder.verdict import Grade, LookReason

TIME_UNREADABLE = "the time of submission cannot be read; counted as on time"


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
    look: tuple[LookReason, ...]
    checks: tuple[tuple[str, float, float, str], ...]  # id, score, points, status
    page: str  # file of the student's page
    waiting: float = 0.0
    handed_in: str | None = None
    epoch_s: float | None = None
    speedup: float | None = None
    fingerprints: tuple[Print, ...] = ()
    adjustments: tuple[str, ...] = ()
    unused_overrides: tuple[str, ...] = ()  # see verdict.py: Grade
    late_points: float = 0.0
    runs: int = 0  # runs that the checks refer to
    small_runs: int = 0  # those of them that are smaller than the profile requires
    told: tuple[tuple[str, str], ...] = ()  # check id and the found value, in words
    toolkits: tuple[str, ...] = ()  # hashes of the toolkits that the counted runs used
    partners: tuple[str, ...] = ()  # students who may have submitted the same work
    programs: int = 0  # number of programs with something to show to the instructor
    untimed: bool = False  # there is a due date, but no submission time
    programs_missing: bool | None = None  # see verdict.py: Grade

    @property
    def key(self) -> tuple[str, str]:
        return self.student, self.lesson

    @property
    def worth(self) -> float:
        return self.max_score + self.waiting

    @property
    def changes(self) -> tuple[str, ...]:
        """Return the adjustments that changed something."""
        return tuple(line for line in self.adjustments if line != TIME_UNREADABLE)

    @property
    def for_instructor(self) -> tuple[str, ...]:
        """Return the adjustments that changed something, and the overrides that did not."""
        return (*self.changes, *self.unused_overrides)


def page_name(student: str) -> str:
    return f"{file_name(student)}.html"


def row_of(grade: Grade, page: str, partners: tuple[str, ...] = ()) -> Row:
    times = [r.epoch_s.value for r in grade.runs if r.counted and r.epoch_s]
    finished = [r for r in grade.runs if r.outcome == Outcome.COMPLETED]
    speedups = [r.speedup.value for r in finished if r.speedup]
    speedups += [r.rounds.speedup.value for r in finished if r.rounds]  # of speed jobs
    return Row(
        student=grade.student,
        lesson=grade.lesson,
        title=grade.title,
        status=grade.status,
        score=grade.score,
        raw_score=grade.raw_score,
        max_score=grade.max_score,
        waiting=grade.waiting,
        tier=grade.tier if grade.status == GradeStatus.GRADED and grade.checks else "",
        look=grade.look,
        checks=tuple((c.id, c.score, c.points, c.status) for c in grade.checks),
        page=page,
        handed_in=grade.handed_in,
        epoch_s=times[0] if times else None,
        speedup=max(speedups, default=None),
        fingerprints=prints_of(grade.student, grade.runs),
        adjustments=grade.adjustments,
        unused_overrides=grade.unused_overrides,
        untimed=grade.untimed,
        programs_missing=grade.programs_missing,
        late_points=grade.late_points,
        runs=sum(run.counted for run in grade.runs),
        told=tuple((c.id, c.told) for c in grade.checks if c.told),
        small_runs=grade.small_runs,
        toolkits=tuple(sorted({r.toolkit for r in grade.runs if r.counted and r.toolkit})),
        partners=partners,
        programs=len(grade.programs),
    )


@cache
def adapter() -> TypeAdapter[Row]:
    return TypeAdapter(Row)


def from_data(data: dict[str, Any]) -> Row:
    """Return the row that the JSON data describes. Raise ValueError for any other data."""
    return adapter().validate_python(data)
