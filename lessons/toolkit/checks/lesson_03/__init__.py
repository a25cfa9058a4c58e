"""Public checks of lesson 03: a baseline worth distributing."""

from lessons.toolkit.checks.lesson_03.images import check_3_1 as check_3_1, check_3_2 as check_3_2
from lessons.toolkit.checks.lesson_03.networks import check_3_3 as check_3_3, check_3_4 as check_3_4
