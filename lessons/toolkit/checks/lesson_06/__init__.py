"""Public checks of lesson 06: allreduce by hand."""

from lessons.toolkit.checks.lesson_06.allreduce import (
    check_6_1 as check_6_1,
    check_6_2 as check_6_2,
    check_6_5 as check_6_5,
)
from lessons.toolkit.checks.lesson_06.plugin import check_6_4 as check_6_4
from lessons.toolkit.checks.lesson_06.time_model import check_6_3 as check_6_3
