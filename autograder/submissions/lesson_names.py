"""Recognise lessons in the names of folders, archives and columns."""

import re
from collections.abc import Collection

LESSON = re.compile(r"(?:lesson[-_ ]?)?(\d\d)(?:[-_. ].*)?\Z", re.IGNORECASE)
# Words for lessons and tasks, which may be numbered differently, in English and German.
WORDS = (
    "lesson|lektion|chapter|kapitel|unit|hw|homework|assignment|assign|exercises?|ex|lab|week|woche"
    "|übung|ubung|blatt|aufgabe|task|ps"
)
HINT = re.compile(rf"(?:{WORDS})?[-_. ]{{0,3}}0*(\d{{1,2}})(?:[-_. (].*)?\Z", re.IGNORECASE)


def lesson_of(name: str) -> str | None:
    """Return `02` for names such as `02_serial` or `Lesson-02`, otherwise None."""
    match = LESSON.match(name)
    return match[1] if match else None


def folder_lesson(name: str, lessons: Collection[str]) -> str | None:
    """Return the lesson that a folder is named after.

    `02_serial` is lesson 02, even without a rubric, and `practical1-ada` is practical1.
    """
    if name in lessons:
        return name
    begins = [
        lesson
        for lesson in lessons
        if re.match(rf"(?:lesson[-_ ]?)?{re.escape(lesson)}(?![^\W_])", name, re.IGNORECASE)
    ]
    return max(begins, key=len, default=None) or lesson_of(name)


def lesson_among(name: str, lessons: Collection[str]) -> str | None:
    """Return the lesson that a name refers to: `02`, `2` and `02_serial` are lesson 02."""
    found = (name, name and name.zfill(2), folder_lesson(name, lessons))
    return next((lesson for lesson in found if lesson in lessons), None)


def hinted_lesson(name: str) -> str | None:
    """Return `02` for names such as `Lesson 2`, `hw02` or `2`, which may mean something else."""
    match = HINT.match(name)
    return match[1].zfill(2) if match else None
