"""Public checks of lesson 15."""

from lessons.toolkit.checks.lesson_15.jobs import (
    check_15_5 as check_15_5,
    check_15_6 as check_15_6,
)
from lessons.toolkit.checks.lesson_15.saving import (
    check_15_2 as check_15_2,
    check_15_3 as check_15_3,
)
from lessons.toolkit.checks.lesson_15.state import (
    check_15_1 as check_15_1,
    check_15_4 as check_15_4,
    check_15_7 as check_15_7,
    check_15_8 as check_15_8,
)
