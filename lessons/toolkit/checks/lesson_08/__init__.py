"""Public checks of lesson 08: distributing the data."""

from cluster.jobs.horovod import provide_horovod
from lessons.toolkit.checks.lesson_08.parts import check_8_1 as check_8_1, check_8_5 as check_8_5
from lessons.toolkit.checks.lesson_08.sharing import (
    check_8_2 as check_8_2,
    check_8_3 as check_8_3,
    check_8_4 as check_8_4,
)

provide_horovod()  # the lesson's notebook imports a program that needs it
