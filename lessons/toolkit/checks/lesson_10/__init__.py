"""Public checks of lesson 10: the frameworks' own ways."""

from lessons.toolkit.checks.lesson_10.alone import check_10_6, check_10_7
from lessons.toolkit.checks.lesson_10.data_parallel import check_10_1, check_10_2
from lessons.toolkit.checks.lesson_10.effort import check_10_5
from lessons.toolkit.checks.lesson_10.staleness import check_10_4
from lessons.toolkit.checks.lesson_10.tf_config import check_10_3

__all__ = [
    "check_10_1",
    "check_10_2",
    "check_10_3",
    "check_10_4",
    "check_10_5",
    "check_10_6",
    "check_10_7",
]
