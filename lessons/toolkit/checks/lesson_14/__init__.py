"""Public checks of lesson 14."""

from lessons.toolkit.checks.lesson_14.counting import (
    check_14_1 as check_14_1,
    check_14_2 as check_14_2,
    check_14_3 as check_14_3,
    check_14_4 as check_14_4,
)
from lessons.toolkit.checks.lesson_14.small_numbers import (
    check_14_9 as check_14_9,
    check_14_10 as check_14_10,
)
from lessons.toolkit.checks.lesson_14.steps import (
    check_14_5 as check_14_5,
    check_14_6 as check_14_6,
    check_14_7 as check_14_7,
    check_14_8 as check_14_8,
)
