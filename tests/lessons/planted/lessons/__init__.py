"""The tables, one file for each lesson; lazy answers are jobs and mistakes like the others."""

from tests.lessons.planted.lazies import LAZIES
from tests.lessons.planted.lazy import with_lazy
from tests.lessons.planted.lessons import (
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
LESSONS = {
    table.LESSON.number: with_lazy(table.LESSON, LAZIES[table.LESSON.number]) for table in TABLES
}
