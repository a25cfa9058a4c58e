"""Pack feedback in the forms that Moodle and Canvas accept: a page and a text for each student.

For Moodle's "Upload multiple feedback files in a zip", the zip has one folder
NAME_NUMBER_assignfeedback_file_ per participant. The number comes from the assignment's grading
worksheet. Canvas, "Upload submissions": files with the same names as in Canvas's download of the
submissions. Canvas finds the student and the file by the first two numbers between underscores.
Both platforms show these files. Canvas's API also accepts texts.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.classroom.rows import Row
from autograder.codes import GradeStatus
from autograder.errors import SettingsError
from autograder.report import html, moodle
from autograder.report.back.records import heading_of, read_record
from autograder.report.back.zipped import zipped
from autograder.report.student.next_steps import summary
from autograder.safe_text import readable_name
from autograder.settings.roster import Person
from autograder.verdict import Grade
from autograder.wording import counted, enumerated

# in a folder's name; `_` separates the parts of Moodle's names
UNFIT = re.compile(r"[_/\\:*?\"<>|\x00-\x1f]+")
NAMED = 5


@dataclass(frozen=True, slots=True)
class Back:
    """Feedback for the students of one lesson, keyed by name. `people` comes from the roster."""

    grades: Mapping[str, Grade]
    people: Mapping[str, Person]
    nothing: Sequence[str]  # students who submitted nothing for it, and get nothing back
    heading: str

    def page(self, student: str) -> str:
        person = self.people.get(student)
        name = readable_name((person.full_name if person else "") or student)
        return html.student_page(name, [self.grades[student]], {}, heading=self.heading)

    def text(self, student: str) -> str:
        return summary(self.grades[student])


def of_lesson(lesson: str, rows: Iterable[Row], grades: Path, people: Mapping[str, Person]) -> Back:
    """Return the students who submitted something for this lesson, even if only a picture.

    Feedback for these students begins with what to do next. Students who submitted nothing get no
    feedback.
    """
    found = {}
    for row in rows:
        if row.lesson != lesson or not row.page:
            continue
        record = read_record(grades, row.page)
        mine = [one for one in record if one.lesson == lesson]
        mine = mine or [of_this(row, one) for one in record if no_lesson(one)]
        if mine:
            found[row.student] = mine[0]
    absent = {
        one.student for one in rows if one.lesson == lesson and one.status == GradeStatus.MISSING
    }
    return Back(found, people, sorted(absent - found.keys()), heading_of(grades))


def no_lesson(grade: Grade) -> bool:
    """Return whether a submission belongs to no lesson and therefore cannot be graded."""
    return grade.status == GradeStatus.MISSING and any(finding.where for finding in grade.findings)


def of_this(row: Row, grade: Grade) -> Grade:
    return replace(grade, lesson=row.lesson, title=row.title, max_score=row.max_score)


def sentence(name: str, given: Sequence[str], back: Back, advice: str) -> str:
    """Return a sentence that names who gets feedback, and who has a grade but gets none."""
    text = f"{name}: for {len(given)} of {len(back.grades)} students"
    if lost := sorted(set(back.grades) - set(given)):
        text += f"; none for {enumerated(lost, NAMED)} ({advice})"
    if back.nothing:
        text += f"; nothing was submitted by {enumerated(back.nothing, NAMED)}"
    return text


# --- Moodle -----------------------------------------------------------------------------------


def for_moodle(
    worksheet: Path, rows: Sequence[Row], grades: Path, people: Mapping[str, Person]
) -> tuple[str, bytes, str]:
    """Return the name and bytes of the zip, and a sentence about it."""
    lesson, table = moodle.opened(worksheet, rows)
    back = of_lesson(lesson, rows, grades, people)
    find = moodle.finder([row for row in rows if row.lesson == lesson and row.title], people)
    files, packed_students = {}, []
    for line in table[1:]:
        student, number = find(line) or "", moodle.participant(line)
        if student not in back.grades or not number:
            continue
        name = UNFIT.sub(" ", line[1] if len(line) > 1 else "").strip() or "Participant"
        folder = f"{name}_{number}_assignfeedback_file_"
        files[f"{folder}/feedback-{lesson}.html"] = back.page(student)
        files[f"{folder}/feedback-{lesson}.txt"] = back.text(student)
        packed_students.append(student)
    name = f"moodle-{worksheet.stem}.zip"
    return (
        name,
        zipped(files),
        sentence(name, packed_students, back, "the roster needs their moodle_id or email"),
    )


# --- Canvas -----------------------------------------------------------------------------------

TEXTS = (".out", ".err", ".txt", ".log", ".md", ".py", ".csv", "")


def for_canvas(
    downloaded: Path, rows: Sequence[Row], grades: Path, people: Mapping[str, Person]
) -> tuple[str, bytes, str]:
    """Return the name and bytes of the zip, and a sentence about it.

    The names come from Canvas's own download of the lesson's submissions.
    """
    lesson = moodle.lesson_meant(downloaded, rows, "02-submissions.zip")
    back = of_lesson(lesson, rows, grades, people)
    by_id = {person.canvas_id: name for name, person in people.items() if person.canvas_id}
    offered: dict[str, list[str]] = {}
    for name in names_in(downloaded):
        student = by_id.get(canvas_user(name), "")
        if student in back.grades:
            offered.setdefault(student, []).append(name)
    files: dict[str, str | bytes] = {}
    packed_students = []
    for student, names in sorted(offered.items()):
        best = min(names, key=lambda name: (fitness(name), name))
        if fitness(best) > 1:
            continue
        packed_students.append(student)
        text = back.text(student)
        if fitness(best):
            files[best] = text
        else:
            pages = {f"feedback-{lesson}.html": back.page(student), f"feedback-{lesson}.txt": text}
            files[best] = zipped(pages)
    name = f"canvas-{lesson}.zip"
    advice = "the roster needs their canvas_id, and the download must have their .zip or text file"
    return name, zipped(files), sentence(name, packed_students, back, advice)


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


def canvas_comments(
    lesson: str, rows: Sequence[Row], grades: Path, people: Mapping[str, Person]
) -> tuple[str, str, str]:
    """Return comments on one assignment in the format of Canvas's API."""
    back = of_lesson(lesson, rows, grades, people)
    ids = {name: person.canvas_id for name, person in people.items() if person.canvas_id}
    data = {
        ids[student]: {"text_comment": back.text(student)}
        for student in sorted(back.grades)
        if student in ids
    }
    name = f"canvas-{lesson}-comments.json"
    text = json.dumps({"grade_data": data}, ensure_ascii=False, indent=1) + "\n"
    commented = [student for student in back.grades if student in ids]
    if not commented:
        raise SettingsError(
            f"{name} would contain none of {counted(len(back.grades), 'student')}: give --roster "
            "with their canvas_id, and the names that are in the grades"
        )
    return name, text, sentence(name, commented, back, "the roster needs their canvas_id")
