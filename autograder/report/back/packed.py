"""Pack feedback in the forms that Moodle and Canvas accept: a page and a text for each student.

For Moodle's "Upload multiple feedback files in a zip", the zip has one folder
NAME_NUMBER_assignfeedback_file_ per participant. The number comes from the assignment's grading
worksheet. Canvas, "Upload submissions": files with the same names as in Canvas's download of the
submissions. Canvas finds the student and the file by the first two numbers between underscores.
Both platforms show these files.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.codes import GradeStatus
from autograder.errors import SettingsError
from autograder.report import filling, moodle
from autograder.report.back.records import GradedClass, read_record
from autograder.report.back.zipped import zipped
from autograder.report.rendering import render
from autograder.report.signs import full_name
from autograder.report.student import said_once
from autograder.report.student.next_steps import next_steps
from autograder.report.student.page import student_page
from autograder.settings.roster import Person
from autograder.verdict import Grade
from autograder.wording import counted, enumerated

# in a folder's name; `_` separates the parts of Moodle's names
UNFIT = re.compile(r"[_/\\:*?\"<>|\x00-\x1f]+")
NAMED = 5


Pack = tuple[str, bytes, str]  # name and bytes of a file, and a sentence about it


@dataclass(frozen=True, slots=True)
class Back:
    """Feedback for the students of one lesson, keyed by name. `people` comes from the roster."""

    lesson: str
    grades: Mapping[str, Grade]
    people: Mapping[str, Person]
    nothing: Sequence[str]  # students who submitted nothing for it, and get nothing back
    heading: str

    def page(self, student: str) -> str:
        name = full_name(student, self.people)
        return student_page(name, [self.grades[student]], {}, heading=self.heading)

    def files(self, student: str) -> dict[str, str]:
        text = summary(self.grades[student])
        name = f"feedback-{self.lesson}"
        return {f"{name}.html": self.page(student), f"{name}.txt": text}

    def sentence(self, name: str, given: Sequence[str], advice: str) -> str:
        """Return a sentence that names who gets feedback, and who has a grade but gets none.

        If nobody would get feedback, raise an error, so that no earlier file is replaced.
        """
        if not given:
            students = counted(len(self.grades), "student")
            raise SettingsError(f"{name} would contain none of {students}: {advice}")
        text = f"{name}: for {len(given)} of {len(self.grades)} students"
        if lost := sorted(set(self.grades) - set(given)):
            text += f"; none for {enumerated(lost, NAMED)} ({advice})"
        if self.nothing:
            text += f"; nothing was submitted by {enumerated(self.nothing, NAMED)}"
        return text


def summary(grade: Grade) -> str:
    """Return a grade and the next steps as plain text, for platforms that show comments."""
    return render(
        "feedback.txt.j2",
        grade=grade,
        steps=next_steps([grade]),
        adjusted=said_once.adjustments(grade),
    )


def of_lesson(lesson: str, graded: GradedClass, people: Mapping[str, Person]) -> Back:
    """Return the students who submitted something for this lesson, even if only a picture.

    Feedback for these students begins with what to do next. Students who submitted nothing get no
    feedback.
    """
    found = {}
    rows = [row for row in graded.rows if row.lesson == lesson]
    for row in rows:
        record = read_record(graded.folder, row.page) if row.page else ()
        mine = [one for one in record if one.lesson == lesson]
        mine += [
            replace(one, lesson=lesson, title=row.title, max_score=row.max_score)
            for one in record
            if belongs_to_no_lesson(one)
        ]
        if mine:
            found[row.student] = mine[0]
    absent = {row.student for row in rows if row.status == GradeStatus.MISSING}
    return Back(lesson, found, people, sorted(absent - found.keys()), graded.heading)


def belongs_to_no_lesson(grade: Grade) -> bool:
    """Return whether a submission belongs to no lesson and therefore cannot be graded."""
    return grade.status == GradeStatus.MISSING and any(finding.where for finding in grade.findings)


# --- Moodle -----------------------------------------------------------------------------------


def for_moodle(worksheet: Path, graded: GradedClass, people: Mapping[str, Person]) -> Pack:
    lesson = moodle.lesson_meant(worksheet, graded.rows)
    back = of_lesson(lesson, graded, people)
    rows = [row for row in graded.rows if row.lesson == lesson and row.title]
    find = moodle.finder(rows, people)
    files: dict[str, str] = {}
    packed_students = []
    header, *lines = filling.read_table(worksheet) or [[]]
    moodle.grade_column(worksheet, header)
    for line in lines:
        student, number = find(line), moodle.participant(line)
        if student not in back.grades or not number:
            continue
        name = UNFIT.sub(" ", line[1] if len(line) > 1 else "").strip() or "Participant"
        folder = f"{name}_{number}_assignfeedback_file_"
        files |= {f"{folder}/{file}": text for file, text in back.files(student).items()}
        packed_students.append(student)
    name = f"moodle-{worksheet.stem}.zip"
    advice = "--roster needs their moodle_id or email as in the worksheet"
    return name, zipped(files), back.sentence(name, packed_students, advice)


# --- Canvas -----------------------------------------------------------------------------------

TEXTS = (".out", ".err", ".txt", ".log", ".md", ".py", ".csv", "")


def for_canvas(downloaded: Path, graded: GradedClass, people: Mapping[str, Person]) -> Pack:
    """Return a zip whose file names match those in Canvas's own download of the lesson."""
    lesson = moodle.lesson_meant(downloaded, graded.rows)
    back = of_lesson(lesson, graded, people)
    by_id = {person.canvas_id: name for name, person in people.items() if person.canvas_id}
    offered: dict[str, list[str]] = {}
    for name in names_in(downloaded):
        student = by_id.get(canvas_user(name), "")
        if student in back.grades and fitness(name) < 2:
            offered.setdefault(student, []).append(name)
    files: dict[str, str | bytes] = {}
    for student, names in offered.items():
        best = min(names, key=lambda name: (fitness(name), name))
        files[best] = (
            summary(back.grades[student]) if fitness(best) else zipped(back.files(student))
        )
    name = f"canvas-{lesson}.zip"
    advice = "--roster needs their canvas_id, and the download must have their .zip or text file"
    return name, zipped(files), back.sentence(name, [*offered], advice)


def fitness(name: str) -> int:
    """Rate how well a student's file name suits the file that the grader returns.

    0 for a zip, 1 for a text, 2 for neither. Canvas shows our file under the student's file name,
    so that name has to suit our text or page.
    """
    suffix = PurePosixPath(name).suffix.lower()
    return 0 if suffix == ".zip" else 1 if suffix in TEXTS else 2


def canvas_user(name: str) -> str:
    """Return the user id in a name: 101 in `lovelaceada_LATE_101_2002_train.zip`."""
    numbers = [part for part in name.split("_") if re.fullmatch(r"[0-9]+", part)]
    return numbers[0] if len(numbers) > 1 else ""


def names_in(downloaded: Path) -> Iterator[str]:
    """Yield the names of the students' files. Nothing is unpacked."""
    try:
        if downloaded.is_dir():
            yield from sorted(path.name for path in downloaded.iterdir() if path.is_file())
            return
        with zipfile.ZipFile(io.BytesIO(downloaded.read_bytes())) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise SettingsError(f"{downloaded} cannot be read as Canvas's zip: {error}") from None
    yield from sorted({PurePosixPath(name).name for name in names})
