"""Write tables for spreadsheets and programs."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from pydantic_core import to_json

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.safe_text import csv_cell
from autograder.settings.roster import Person
from autograder.submissions.moments import moment_of
from autograder.verdict import NO_LESSON


def to_csv(lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for line in lines:
        writer.writerow([csv_cell("" if cell is None else cell) for cell in line])
    return text.getvalue()


def grades_csv(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    header = (
        "student name email lesson score max_score raw_score status evidence look adjustments "
        "epoch_s speedup"
    )
    lines: list[Sequence[object]] = [header.split()]
    for row in rows:
        person = people.get(row.student, Person(row.student))
        lines.append(
            (
                row.student,
                person.full_name,
                person.email,
                row.lesson,
                row.score,
                row.max_score,
                row.raw_score,
                row.status,
                row.tier,
                "; ".join(map(str, row.look)),
                "; ".join((*row.adjustments, *row.unused_overrides)),
                row.epoch_s,
                row.speedup,
            )
        )
    return to_csv(lines)


def checks_csv(rows: Sequence[Row]) -> str:
    lines: list[Sequence[object]] = [("student", "lesson", "check", "score", "points", "status")]
    lines += [(row.student, row.lesson, *check) for row in rows for check in row.checks]
    return to_csv(lines)


def as_json(rows: Sequence[Row], profile: str, heading: str) -> str:
    data = {"format": 1, "title": heading, "profile": profile, "grades": rows}
    reasons = {"grades": {"__all__": {"why"}}}  # the records have these, in full
    return to_json(data, indent=1, inf_nan_mode="strings", exclude=reasons).decode() + "\n"


def nbgrader_csv(rows: Sequence[Row], people: Mapping[str, Person]) -> str:
    """Return the columns of nbgrader's own gradebook export."""
    header = (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,"
        "late_submission_penalty,score,max_score"
    )
    lines: list[Sequence[object]] = [header.split(",")]
    for row in rows:
        if row.status == GradeStatus.EXCUSED or row.lesson == NO_LESSON:
            continue
        person = people.get(row.student, Person(row.student))
        moment = moment_of(row.handed_in)
        lines.append(
            (
                f"{row.lesson} {row.title}".strip(),
                None,
                moment.isoformat(" ") if moment else None,
                row.student,
                person.last_name,
                person.first_name,
                person.email,
                # An override does not change the late penalty: nbgrader's own score minus penalty.
                None if row.score is None else round(row.score + row.late_points, 2),
                None if row.score is None else row.late_points,
                row.score,
                row.max_score,
            )
        )
    return to_csv(lines)
