"""The lesson that a folder, an archive or a column is named after."""

import re

LESSON = re.compile(r"(?:lesson[-_ ]?)?(\d\d)(?:[-_. ].*)?\Z", re.IGNORECASE)


def lesson_of(name: str) -> str | None:
    """`02`, if a name says it, as in `02_serial` or `Lesson-02`."""
    match = LESSON.match(name)
    return match[1] if match else None
