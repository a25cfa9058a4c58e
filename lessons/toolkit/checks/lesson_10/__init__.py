"""Public checks of lesson 10: the frameworks' own ways."""

from lessons.toolkit.checks.lesson_10.alone import check_10_6, check_10_7
from lessons.toolkit.checks.lesson_10.data_parallel import check_10_1, check_10_2
from lessons.toolkit.checks.lesson_10.effort import check_10_5

__all__ = ["check_10_1", "check_10_2", "check_10_5", "check_10_6", "check_10_7"]
