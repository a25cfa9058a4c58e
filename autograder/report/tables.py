"""Write tables for spreadsheets and programs."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from pydantic_core import to_json

from autograder.codes import GradeStatus
from autograder.safe_text import csv_cell
from autograder.settings.roster import Person
from autograder.submissions.moments import moment_of
from autograder.verdict import NO_LESSON, Grade

# The columns of a table with a line for each row of the class.
Columns = Mapping[str, Callable[[Grade, Person], object]]
GRADES: Columns = {
    "student": lambda row, person: row.student,
    "name": lambda row, person: person.full_name,
    "email": lambda row, person: person.email,
    "lesson": lambda row, person: row.lesson,
    "score": lambda row, person: row.score,
    "max_score": lambda row, person: row.max_score,
    "raw_score": lambda row, person: row.raw_score,
    "status": lambda row, person: row.status,
    "evidence": lambda row, person: row.level,
    "look": lambda row, person: "; ".join(map(str, row.look)),
    "adjustments": lambda row, person: "; ".join((*row.adjustments, *row.unused_overrides)),
    "epoch_s": lambda row, person: row.epoch_s,
    "speedup": lambda row, person: row.speedup,
}
NBGRADER: Columns = {
    "assignment": lambda row, person: f"{row.lesson} {row.title}".strip(),
    "duedate": lambda row, person: None,
    "timestamp": lambda row, person: timestamp(row.handed_in),
    "student_id": lambda row, person: row.student,
    "last_name": lambda row, person: person.last_name,
    "first_name": lambda row, person: person.first_name,
    "email": lambda row, person: person.email,
    # An override does not change the late penalty: nbgrader's own score minus penalty.
    "raw_score": lambda row, person: (
        None if row.final_score is None else round(row.final_score + row.late_points, 2)
    ),
    "late_submission_penalty": lambda row, person: (
        None if row.final_score is None else row.late_points
    ),
    "score": lambda row, person: row.final_score,
    "max_score": lambda row, person: row.worth,
}

PLAIN = (
    *("student", "lesson", "title", "profile", "status", "score", "raw_score", "max_score"),
    *("waiting", "look", "page", "handed_in", "epoch_s", "speedup", "adjustments"),
    *("unused_overrides", "untimed", "late_points", "partners", "programs_missing"),
)
TABLE: Mapping[str, Callable[[Grade], object]] = {  # of grades.json
    **{name: attrgetter(name) for name in PLAIN},
    "tier": lambda row: row.level,
    "checks": lambda row: [(c.id, c.score, c.points, c.status) for c in row.checks],
}


def to_csv(lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for line in lines:
        writer.writerow([csv_cell("" if cell is None else cell) for cell in line])
    return text.getvalue()


def with_columns(columns: Columns, rows: Iterable[Grade], people: Mapping[str, Person]) -> str:
    lines: list[list[object]] = [[*columns]]
    for row in rows:
        person = people.get(row.student, Person(row.student))
        lines.append([value(row, person) for value in columns.values()])
    return to_csv(lines)


def grades_csv(rows: Sequence[Grade], people: Mapping[str, Person]) -> str:
    return with_columns(GRADES, rows, people)


def nbgrader_csv(rows: Sequence[Grade], people: Mapping[str, Person]) -> str:
    """Return the columns of nbgrader's own gradebook export."""
    counting = [r for r in rows if r.status != GradeStatus.EXCUSED and r.lesson != NO_LESSON]
    return with_columns(NBGRADER, counting, people)


def timestamp(handed_in: str | None) -> str | None:
    moment = moment_of(handed_in)
    return moment.isoformat(" ") if moment else None


def checks_csv(rows: Sequence[Grade]) -> str:
    lines: list[Sequence[object]] = [("student", "lesson", "check", "score", "points", "status")]
    lines += [
        (row.student, row.lesson, check.id, check.score, check.points, check.status)
        for row in rows
        for check in row.checks
    ]
    return to_csv(lines)


def as_json(rows: Sequence[Grade], profile: str, heading: str) -> str:
    grades = [{name: value(row) for name, value in TABLE.items()} for row in rows]
    data = {"format": 1, "title": heading, "profile": profile, "grades": grades}
    return to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
