"""Public checks of lesson 12: the scaling study."""

from lessons.toolkit.checks.lesson_12.laws import (
    check_12_2 as check_12_2,
    check_12_3 as check_12_3,
    check_12_4 as check_12_4,
)
from lessons.toolkit.checks.lesson_12.plans import (
    check_12_1 as check_12_1,
    check_12_5 as check_12_5,
)
from lessons.toolkit.checks.lesson_12.results import (
    check_12_6 as check_12_6,
    check_12_7 as check_12_7,
    check_12_8 as check_12_8,
)
