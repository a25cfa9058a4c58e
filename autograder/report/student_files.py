"""What is written of one student: a page, a record, and what other systems want."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic_core import to_json

from autograder.classroom.kept import PAGES
from autograder.classroom.pool import Publish
from autograder.report import gradescope, html, junit, programs
from autograder.report.leaderboard import Graded
from autograder.report.student.not_handed_in import not_handed_in
from autograder.report.student.requests import of_student
from autograder.safe_text import printable, readable_name
from autograder.settings.policy import Policy
from autograder.submissions.students import Student
from autograder.verdict import Grade
from autograder.writing import write_if_new

NO_POLICY = Policy()
FOLDERS = {PAGES: ".html", "records": ".json", "junit": ".xml"}  # of the files of one student


def publisher(
    out: Path | None,
    names: Mapping[str, str],
    curves: html.Curves,
    with_junit: bool,
    gradescope_results: Path | None,
    policy: Policy = NO_POLICY,
    speeds: Graded | None = None,
) -> Publish:
    """A function that writes all of a student's files; `names` are full names, for the page;
    `speeds`: the runs for Gradescope's leaderboard, if it is filled in too."""

    def publish(student: Student, grades: Sequence[Grade], page: str) -> None:
        if gradescope_results:
            write_if_new(gradescope_results, gradescope.document(grades, speeds))
        if out is None:
            return
        name = readable_name(names.get(student.name) or student.name)
        asked = of_student(student.name, grades, policy)
        absent = not_handed_in(student.name, grades, policy)
        write_if_new(out / PAGES / page, html.student_page(name, grades, curves, asked, absent))
        programs.write(out, page, name, grades)
        data = {"format": 1, "student": printable(student.name), "grades": grades}
        record = to_json(data, indent=1, inf_nan_mode="strings").decode() + "\n"
        write_if_new(out / "records" / Path(page).with_suffix(".json").name, record)
        if with_junit:
            path = out / "junit" / Path(page).with_suffix(".xml").name
            write_if_new(path, junit.document(student.name, grades))

    return publish
