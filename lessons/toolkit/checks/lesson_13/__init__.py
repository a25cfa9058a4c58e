"""Public checks of lesson 13."""

from lessons.toolkit.checks.lesson_13.arithmetic import (
    check_13_6 as check_13_6,
    check_13_7 as check_13_7,
)
from lessons.toolkit.checks.lesson_13.by_hand import (
    check_13_1 as check_13_1,
    check_13_2 as check_13_2,
    check_13_3 as check_13_3,
    check_13_4 as check_13_4,
    check_13_5 as check_13_5,
)
