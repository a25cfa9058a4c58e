"""Before grading, report who is in a class, what is missing, and which files belong to nobody."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from autograder.safe_text import printable
from autograder.submissions import manifest
from autograder.submissions.class_folder import Submission, listed, strays
from autograder.submissions.kinds import WORK
from autograder.submissions.walk import holds
from autograder.wording import counted, enumerated


def unassigned(folder: Path) -> tuple[manifest.Rows, list[str]]:
    """Return the manifest's rows or, without a manifest, the files beside the students' folders."""
    rows = manifest.read(folder / manifest.NAME)
    files = strays([Path(entry.path) for entry in listed(folder)]) if rows is None else []
    return rows or {}, files


def not_graded(rows: Mapping[str, manifest.Row], unowned: Sequence[str]) -> list[str]:
    """Return lines about submissions and files that are not graded because they have no student."""
    of_nobody = [row for row in rows.values() if not row.owners]
    waiting = [row for row in of_nobody if manifest.is_doubtful(row)]
    lines = listed_lines(
        ("Files that belong to nobody", unowned),
        ("Not graded, because the row names no student", [row.folder for row in of_nobody]),
    )
    if waiting:
        have = "submission has" if len(waiting) == 1 else "submissions have"
        lines.append(
            f"{len(waiting)} {have} no owner, because the roster lacks these ids or has them "
            f"twice: {some(manifest.reasons(waiting))}. Add them to the roster and collect again, "
            f"or write the student into `students` in {manifest.NAME}."
        )
    return lines


def to_check(rows: Mapping[str, manifest.Row], folder: Path, unowned: Sequence[str]) -> list[str]:
    """Return what to check in a class's manifest. `unowned` lists files that belong to nobody."""
    doubtful = [row.folder for row in rows.values() if manifest.is_doubtful(row)]
    lines = listed_lines((f"To check in {folder / manifest.NAME}", doubtful))
    return [*lines, *not_graded(rows, unowned)]


def against_roster(students: Collection[str], people: Collection[str]) -> list[str]:
    """Return who submitted nothing, and who is not on the roster."""
    if not people:
        return []
    return listed_lines(
        ("Nothing submitted by", sorted({*people} - {*students})),
        ("Not on the roster", sorted({*students} - {*people})),
    )


def roll_call(
    folder: Path,
    submissions: Sequence[Submission],
    lessons: Collection[str],
    people: Collection[str],
) -> tuple[list[str], bool]:
    """Return the lines of `grade --dry-run`, and whether there is something to check."""
    by_lesson = defaultdict[str, set[str]](set)
    unknown = []
    for one in submissions:
        if one.lesson is not None and one.lesson not in lessons:
            unknown.append(one.folder)
        else:
            working = one.students if holds(folder / one.folder, WORK) else ()
            by_lesson[one.lesson or "found from the outputs"].update(working)
    students = {student for one in submissions for student in one.students}
    everybody = students | {*people}
    share = f"{len(students)} of {counted(len(everybody), 'student')}"
    lines = [f"{share} submitted something to {folder}. Nothing was graded or written."]
    for lesson, there in sorted(by_lesson.items()):
        absent = everybody - there if lesson in lessons else ()
        missing = f"; missing: {some(sorted(absent))}" if absent else ""
        lines.append(f"Lesson {lesson}: {len(there)} of {len(everybody)} students{missing}")
    rows, unowned = unassigned(folder)
    checks = to_check(rows, folder, unowned) + against_roster(students, people)
    checks += listed_lines(("Of a lesson without a rubric", unknown))
    return [*lines, *checks], bool(checks)


def listed_lines(*items: tuple[str, Sequence[str]]) -> list[str]:
    """Return a line for each text that has names to list."""
    return [f"{text}: {some(names)}" for text, names in items if names]


def some(names: Sequence[str]) -> str:
    return enumerated([printable(name, 80) for name in names])
