"""Fill in Canvas's export or Moodle's worksheet: other cells stay, points are rescaled."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder import strict_csv
from autograder.errors import SettingsError
from autograder.safe_text import printable
from autograder.settings.roster import Claim, Person, who_is
from autograder.submissions.kinds import lesson_among, lesson_of
from autograder.verdict import Grade
from autograder.wording import enumerated

# 1,000 is not changed: it is a thousand in some places and one in others
NUMBER = re.compile(r"\d+(?:[.,]\d{1,2})?")
NAMED = 5  # students in a sentence


def read_table(path: Path) -> list[list[str]]:
    """Return the cells. Separators depend on the site's language. Cells may contain line breaks."""
    text = strict_csv.read_text(path)
    separator = strict_csv.separator(text)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return [line for line in reader if line]
    except csv.Error as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None


def lesson_of_file(path: Path, rows: Iterable[Grade]) -> str:
    """Return the lesson that a platform's file is for, by the file's name or as the only one."""
    lessons = sorted({row.lesson for row in rows if row.title})
    lesson = lesson_among(path.stem, lessons) or lesson_of(path.stem)
    if lesson is None and len(lessons) == 1:
        lesson = lessons[0]
    if lesson is None:
        raise SettingsError(f"{path}: begin its name with the lesson, like 02-{path.name}")
    return lesson


Ids = Iterable[tuple[str, str]]  # columns of the roster, or "name", each with what a line says


def finder(people: Mapping[str, Person]) -> Callable[[Ids], str]:
    """Return a function that finds the student of the first id that belongs to only one."""
    who = who_is(people, {})
    return lambda ids: next(iter(who(Claim("", tuple(ids)))), "")


@dataclass(slots=True)
class Filled:
    """A table with our points, and a report about it."""

    name: str
    lines: Sequence[Sequence[object]] = ()
    students: list[str] = field(default_factory=list)  # with points
    without: list[str] = field(default_factory=list)  # names in lines that we have no points for
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the CSV. The cells that we fill in are harmless; the others are the site's."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\r\n").writerows(self.lines)
        return text.getvalue()

    def sentence(self, graded: Iterable[str], known_by: str) -> str:
        """Return how many lines have points, which have none, and which students lack a line."""
        filled, lines = len(self.students), len(self.students) + len(self.without)
        parts = [f"{self.name}: {filled} of {lines} students filled in"]
        lost = [printable(name, 60) for name in sorted(set(graded) - set(self.students))]
        if lost:
            names = enumerated(lost, NAMED)
            parts.append(f"no line there for {names} (the roster needs their {known_by})")
        if self.students and self.without:
            names = enumerated([printable(name, 60) for name in self.without], NAMED)
            parts.append(f"without points here: {names}")
        return "; ".join([*parts, *filter(None, dict.fromkeys(self.notes))])


def scale(worth: float, cell: str) -> tuple[float, str]:
    """Return the factor for an assignment's maximum, and a sentence if it is not 1."""
    text = cell.strip()
    maximum = float(text.replace(",", ".")) if NUMBER.fullmatch(text) else 0.0
    if not maximum or not worth:
        return 1.0, f"points of {worth:g}, because the maximum there cannot be read"
    if maximum == worth:
        return 1.0, ""
    return maximum / worth, f"points of {worth:g} written as points of {maximum:g}"
