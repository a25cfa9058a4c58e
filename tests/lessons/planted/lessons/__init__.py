"""The tables, one file for each lesson."""

from tests.lessons.planted.lessons import (
    lesson_01,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
)

TABLES = (
    lesson_01, lesson_03, lesson_04, lesson_05, lesson_06, lesson_07, lesson_08, lesson_09,
)  # fmt: skip
LESSONS = {table.LESSON.number: table.LESSON for table in TABLES}
