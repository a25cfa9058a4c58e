"""Pack feedback in the forms that Moodle and Canvas accept: a page and a text for each student.

Moodle, "Upload multiple feedback files in a zip": a folder NAME_NUMBER_assignfeedback_file_ per
participant, with the number of the grading worksheet. Canvas, "Upload submissions": files named as
in its own download; Canvas finds the student and the file by the first two numbers in a name.
"""

import io
import re
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from autograder.codes import GradeStatus
from autograder.collect.platforms import PLATFORMS
from autograder.data_files import NEW
from autograder.errors import SettingsError
from autograder.report import filling, moodle
from autograder.report.files import record_file
from autograder.report.rendering import full_name, render
from autograder.report.student import said_once
from autograder.report.student.next_steps import next_steps
from autograder.report.student.page import student_page
from autograder.settings.roster import Person
from autograder.verdict import Grade
from autograder.wording import counted, enumerated

TABLE, GRADES = "grades.json", TypeAdapter(tuple[Grade, ...])
KNOWN = ("student", "lesson", "title", "profile", "status", "score", "max_score")


@dataclass(frozen=True, slots=True)
class GradedClass:
    """A folder of grades."""

    folder: Path
    heading: str  # of the pages
    rows: Sequence[Grade]


def read(path: Path, members: Collection[str] = ()) -> tuple[tuple[Grade, ...], dict[str, Any]]:
    """Return the grades in a file, with these members or all, and everything else in the file."""
    try:
        data = from_json(path.read_bytes())
        rows = [{key: row[key] for key in members or row} for row in data["grades"]]
        return GRADES.validate_python(rows), data
    except (OSError, ValueError, LookupError, TypeError):
        raise SettingsError(f"{path} is missing or damaged: grade again into this folder") from None


def read_class(folder: Path) -> GradedClass:
    """Return the table and the heading of a class."""
    if not (folder / TABLE).exists():
        raise SettingsError(f"{folder} holds no grades: name the --out of `autograder grade`")
    if (folder / NEW).exists():  # records may be newer than the table
        raise SettingsError(f"{folder} is not complete: grade again, and wait for the end")
    rows, data = read(folder / TABLE, KNOWN)
    return GradedClass(folder, str(data.get("title", "Grades")), rows)


DAY_ONE = (2020, 1, 1, 0, 0, 0)  # of all members of a zip, because the real time would differ
Files = Mapping[str, str | bytes]
Pack = tuple[str, bytes, str]  # name and bytes of a file, and a sentence about it


@dataclass(frozen=True, slots=True)
class Back:
    """Feedback for the students of one lesson."""

    lesson: str
    grades: Mapping[str, Grade]  # by student
    people: Mapping[str, Person]  # from the roster
    heading: str

    def files(self, student: str) -> dict[str, str]:
        """Return the student's page, and a text for platforms that show comments."""
        grade, name = self.grades[student], f"feedback-{self.lesson}"
        page = student_page(full_name(student, self.people), [grade], heading=self.heading)
        return {f"{name}.html": page, f"{name}.txt": summary(grade)}

    def pack(self, name: str, files: Files, packed: Collection[str], advice: str) -> Pack:
        """Return the zip, and a sentence on who gets feedback and who has a grade but gets none.

        If nobody would get feedback, raise an error, so that no earlier file is replaced.
        """
        students = counted(len(self.grades), "student")
        if not packed:
            raise SettingsError(f"{name} would contain none of {students}: {advice}")
        text = f"{name}: for {len(packed)} of {students}"
        if lost := sorted(set(self.grades) - set(packed)):
            text += f"; none for {enumerated(lost, filling.NAMED)} ({advice})"
        return name, zipped(files), text


def summary(grade: Grade) -> str:
    """Return a grade and the next steps as plain text, for platforms that show comments."""
    steps, adjusted = next_steps([grade]), said_once.adjustments(grade)
    return render("feedback.txt.j2", grade=grade, steps=steps, adjusted=adjusted)


def of_lesson(file: Path, graded: GradedClass, people: Mapping[str, Person]) -> Back:
    """Return the students who submitted something for a file's lesson, even if only a picture."""
    lesson, grades = filling.lesson_of_file(file, graded.rows), {}
    for row in graded.rows:
        if row.lesson == lesson:
            record, _ = read(graded.folder / record_file(row.page))
            own = [grade for grade in record if grade.lesson == lesson or is_unclear(grade)]
            for grade in sorted(own, key=is_unclear)[:1]:
                title, most = row.title, row.max_score
                grades[row.student] = replace(grade, lesson=lesson, title=title, max_score=most)
    return Back(lesson, grades, people, graded.heading)


def is_unclear(grade: Grade) -> bool:
    """Return whether a submission belongs to no lesson and therefore cannot be graded."""
    return grade.status == GradeStatus.MISSING and any(note.where for note in grade.findings)


def zipped(files: Files) -> bytes:
    """Return a zip that has the same bytes for the same contents."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, DAY_ONE)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


# --- Moodle -----------------------------------------------------------------------------------

UNFIT = re.compile(r"[_/\\:*?\"<>|\x00-\x1f]+")  # in a folder's name; `_` separates its parts


def for_moodle(worksheet: Path, graded: GradedClass, people: Mapping[str, Person]) -> Pack:
    back = of_lesson(worksheet, graded, people)
    files: dict[str, str | bytes] = {}
    packed = []
    _, _, lines = moodle.read_worksheet(worksheet, back.grades, people)
    for student, line in lines:
        if student and (number := moodle.participant(line[0])):
            name = UNFIT.sub(" ", line[1] if len(line) > 1 else "").strip() or "Participant"
            folder = f"{name}_{number}_assignfeedback_file_"
            files |= {f"{folder}/{file}": text for file, text in back.files(student).items()}
            packed.append(student)
    advice = "--roster needs their moodle_id or email as in the worksheet"
    return back.pack(f"moodle-{worksheet.stem}.zip", files, packed, advice)


# --- Canvas -----------------------------------------------------------------------------------

TEXTS = (".out", ".err", ".txt", ".log", ".md", ".py", ".csv", "")


def for_canvas(downloaded: Path, graded: GradedClass, people: Mapping[str, Person]) -> Pack:
    """Return a zip whose file names match those in Canvas's own download of the lesson.

    A student's .zip is replaced by the page and the text, and any other text file by the text:
    Canvas shows both under the names of the student's files.
    """
    back = of_lesson(downloaded, graded, people)
    by_id = {person.canvas_id: name for name, person in people.items() if person.canvas_id}
    names: dict[str, str] = {}  # by student
    for name in sorted(names_in(downloaded), key=lambda name: (not is_zip(name), name)):
        match = re.fullmatch(PLATFORMS["canvas"].form, name)
        student = by_id.get(match["id"], "") if match else ""
        suffix = PurePosixPath(name).suffix.lower()
        if student in back.grades and (is_zip(name) or suffix in TEXTS):
            names.setdefault(student, name)
    files: dict[str, str | bytes] = {}
    for student, name in names.items():
        own = back.files(student)
        files[name] = zipped(own) if is_zip(name) else own[f"feedback-{back.lesson}.txt"]
    advice = "--roster needs their canvas_id, and the download must have their .zip or text file"
    return back.pack(f"canvas-{back.lesson}.zip", files, names, advice)


def is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def names_in(downloaded: Path) -> list[str]:
    """Return the names of the students' files. Nothing is unpacked."""
    try:
        if downloaded.is_dir():
            return [path.name for path in downloaded.iterdir() if path.is_file()]
        with zipfile.ZipFile(downloaded) as archive:
            return [PurePosixPath(i.filename).name for i in archive.infolist() if not i.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise SettingsError(f"{downloaded} cannot be read as Canvas's zip: {error}") from None
