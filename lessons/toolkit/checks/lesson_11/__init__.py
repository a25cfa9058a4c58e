"""Public checks of lesson 11: when the model does not fit."""

from lessons.toolkit.checks.lesson_11.plans import check_11_1, check_11_2, check_11_3
from lessons.toolkit.checks.lesson_11.stages import check_11_4
from lessons.toolkit.checks.lesson_11.tensor import check_11_5, check_11_6, check_11_7

__all__ = [
    "check_11_1",
    "check_11_2",
    "check_11_3",
    "check_11_4",
    "check_11_5",
    "check_11_6",
    "check_11_7",
]
