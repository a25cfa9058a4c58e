"""Write the files of a class that other programs read: each is a row of EXPORTS."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from pydantic_core import to_json

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import GradeStatus
from autograder.report.changes import sources
from autograder.safe_text import csv_cell
from autograder.settings.roster import MAXIMA, Person
from autograder.submissions.moments import moment_of
from autograder.verdict import NO_LESSON, Grade

# The columns of a table with a line for each row of the class.
Columns = Mapping[str, Callable[[Grade, Person], object]]
People = Mapping[str, Person]
Export = Callable[[Sequence[Grade], People, ClassSettings], str]


def own(*names: str) -> Columns:
    """Return columns that have the same names in a grade."""
    return {name: partial(lambda name, row, person: getattr(row, name), name) for name in names}


GRADES: Columns = {
    **own("student"),
    "name": lambda row, person: person.full_name,
    "email": lambda row, person: person.email,
    **own("lesson", "score", "max_score", "waiting", "raw_score", "status"),
    "evidence": lambda row, person: row.level,
    "look": lambda row, person: "; ".join(map(str, row.look)),
    "adjustments": lambda row, person: "; ".join(row.for_instructor),
}
NBGRADER: Columns = {  # of nbgrader's own export
    "assignment": lambda row, person: f"{row.lesson} {row.title}".strip(),
    "duedate": lambda row, person: None,
    "timestamp": lambda row, person: moment_of(row.handed_in),
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
TABLE: Columns = {  # of grades.json
    **own("student", "lesson", "title", "profile", "status", "score", "raw_score", "max_score"),
    **own("waiting", "page", "handed_in", "adjustments", "unused_overrides"),
    **own("untimed", "late_points", "unrounded", "partners"),
    "tier": lambda row, person: row.level,
    "look": lambda row, person: [{"code": note.code, "text": str(note)} for note in row.look],
    "checks": lambda row, person: [(c.id, c.score, c.points, c.status) for c in row.checks],
}
CHECK = ("student", "lesson", "check", "score", "points", "status")
STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")  # in Canvas's gradebook


def to_csv(lines: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for line in lines:
        writer.writerow([csv_cell("" if cell is None else cell) for cell in line])
    return text.getvalue()


def values(columns: Columns, row: Grade, people: People) -> dict[str, object]:
    person = people.get(row.student, Person(row.student))
    return {name: value(row, person) for name, value in columns.items()}


def table(columns: Columns, rows: Iterable[Grade], people: People) -> str:
    return to_csv([columns, *(values(columns, row, people).values() for row in rows)])


def grades(rows: Sequence[Grade], people: People, settings: ClassSettings) -> str:
    """Return a line for each grade, then one for each submission that waits for an owner."""
    waiting = ({"status": "no owner", "look": text} for text in settings.unowned)
    more = to_csv([line.get(name) for name in GRADES] for line in waiting)
    return table(GRADES, rows, people) + more


def nbgrader(rows: Sequence[Grade], people: People, settings: ClassSettings) -> str:
    counting = [r for r in rows if r.status != GradeStatus.EXCUSED and r.lesson != NO_LESSON]
    return table(NBGRADER, counting, people)


def checks(rows: Sequence[Grade], people: People, settings: ClassSettings) -> str:
    lines = (
        (row.student, row.lesson, check.id, check.score, check.points, check.status)
        for row in rows
        for check in row.checks
    )
    return to_csv([CHECK, *lines])


def as_json(rows: Sequence[Grade], people: People, settings: ClassSettings) -> str:
    grades = [
        values(TABLE, row, people)
        | {"sources": sources(row, people.get(row.student, Person(row.student)), settings)}
        for row in rows
    ]
    about = {"format": 1, "title": settings.heading, "profile": settings.profile}
    return to_json(about | {"grades": grades}, indent=1, inf_nan_mode="strings").decode() + "\n"


def canvas(rows: Sequence[Grade], people: People, settings: ClassSettings) -> str:
    """Return a gradebook with the roster's ids, to import into Canvas as new assignments."""
    lessons = with_results(rows)
    by_key = {row.key: row for row in rows}
    titles = [f"{row.lesson} {row.title}" for row in lessons.values()]
    worth = [row.worth for row in lessons.values()]
    lines: list[list[object]] = [[*STUDENT, *titles], [f"    {MAXIMA}", *[None] * 4, *worth]]
    for student in sorted({row.student for row in rows}):
        p = people.get(student, Person(student))
        ids = [p.full_name or student, p.canvas_id, p.sis_id, p.sis_login or student, p.section]
        own = [by_key.get((student, lesson)) for lesson in lessons]
        lines.append([*ids, *(canvas_cell(row, 1.0) if row else None for row in own)])
    return to_csv(lines)


def with_results(rows: Iterable[Grade]) -> dict[str, Grade]:
    """Return a row for each lesson in which somebody has points or is excused."""
    graded = {row.lesson: row for row in rows if row.title and canvas_cell(row, 1.0) is not None}
    return dict(sorted(graded.items()))


def canvas_cell(row: Grade, factor: float) -> object:
    """Return the points times a factor, for Canvas; `EX` means excused, None that it waits."""
    if row.status == GradeStatus.EXCUSED:
        return "EX"
    return None if row.final_score is None else round(row.final_score * factor, 2)


EXPORTS: Mapping[str, Export] = {
    "grades.csv": grades,
    "checks.csv": checks,
    "grades.json": as_json,
    "nbgrader.csv": nbgrader,
    "canvas.csv": canvas,
}
