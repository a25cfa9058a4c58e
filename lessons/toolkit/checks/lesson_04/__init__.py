"""Public checks of lesson 04: feeding the model."""

from lessons.toolkit.checks.lesson_04.arithmetic import check_4_4 as check_4_4
from lessons.toolkit.checks.lesson_04.packs import check_4_1 as check_4_1, check_4_2 as check_4_2
from lessons.toolkit.checks.lesson_04.pipeline import check_4_3 as check_4_3
