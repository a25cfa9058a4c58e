"""Public checks of lesson 05: MirroredStrategy on one node."""

from lessons.toolkit.checks.lesson_05.parallelism import check_5_1 as check_5_1
from lessons.toolkit.checks.lesson_05.replicas import (
    check_5_2 as check_5_2,
    check_5_3 as check_5_3,
    check_5_4 as check_5_4,
)
