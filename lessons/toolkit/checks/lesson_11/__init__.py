"""Public checks of lesson 11: when the model does not fit."""

from lessons.toolkit.checks.lesson_11.plans import (
    check_11_1 as check_11_1,
    check_11_2 as check_11_2,
    check_11_3 as check_11_3,
)
from lessons.toolkit.checks.lesson_11.stages import check_11_4 as check_11_4
from lessons.toolkit.checks.lesson_11.tensor import (
    check_11_5 as check_11_5,
    check_11_6 as check_11_6,
    check_11_7 as check_11_7,
)
