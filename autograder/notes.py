"""Notes: everything that the grader tells people apart from points. Pages call them findings."""

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.codes import INFORMATION, INSTRUCTOR, Audience, FindingCode, Severity

MOST_PLACES = 4
# Several such reasons can share a heading, so each shows what was found.
WITH_DETAIL = {FindingCode.LEFT_OUT, FindingCode.OUTSIDE_JOB, FindingCode.JOB_TOO_SMALL}


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a student's file, or the whole file."""

    file: str
    line: int  # counts from 1; 0: the whole file

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should know: what was expected and found, where, and what to try."""

    code: FindingCode
    severity: Severity
    audience: Audience
    title: str
    expected: str = ""
    actual: str = ""
    where: tuple[Where, ...] = ()
    advice: str = ""

    def __str__(self) -> str:
        """Return the note as a reason to look at a grade, with what tells it from another one."""
        named = self.where and self.code.name.startswith(("FILE_", "ARCHIVE_"))
        detail = self.where[0] if named else self.actual if self.code in WITH_DETAIL else ""
        return f"{self.title}: {detail}" if detail else self.title

    @property
    def look(self) -> bool:
        """Return whether an instructor should look at it."""
        return self.severity != INFORMATION

    @property
    def private(self) -> bool:
        """Return whether the student must not see it."""
        return self.audience == INSTRUCTOR

    @property
    def doubtful(self) -> bool:
        """Return whether it keeps a run from reaching the level *confirmed*."""
        return self.severity in (Severity.CONTRADICTS, Severity.DOUBT)


def make_note(
    code: FindingCode,
    expected: str = "",
    actual: str = "",
    where: Iterable[Where | None] = (),
    advice: str = "",
    **fields: str,
) -> Note:
    """Return the note of this code. `fields` fill in its heading."""
    places = tuple(place for place in where if place)[:MOST_PLACES]
    title = code.heading.format(**fields)
    return Note(code, code.severity, code.audience, title, expected, actual, places, advice)
