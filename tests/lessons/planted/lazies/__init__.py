"""The tables of lazy answers, one file for each lesson."""

from tests.lessons.planted.lazies import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
)

TABLES = (
    lesson_00, lesson_01, lesson_02, lesson_03, lesson_04,
    lesson_05, lesson_06, lesson_07, lesson_08, lesson_09,
)  # fmt: skip
LAZIES = {table.__name__[-2:]: table.TABLE for table in TABLES}
