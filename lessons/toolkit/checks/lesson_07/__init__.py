"""Public checks of lesson 07: Horovod."""

from cluster.jobs.horovod import provide_horovod
from lessons.toolkit.checks.lesson_07.faults import check_7_5 as check_7_5, check_7_6 as check_7_6
from lessons.toolkit.checks.lesson_07.horovod import (
    check_7_1 as check_7_1,
    check_7_2 as check_7_2,
    check_7_3 as check_7_3,
    check_7_4 as check_7_4,
)
from lessons.toolkit.checks.lesson_07.job import check_7_7 as check_7_7

provide_horovod()  # the lesson's notebook imports a program that needs it
