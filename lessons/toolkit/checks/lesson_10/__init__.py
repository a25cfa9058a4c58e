"""Public checks of lesson 10: PyTorch's DistributedDataParallel."""

from lessons.toolkit.checks.lesson_10.buckets import check_10_3 as check_10_3
from lessons.toolkit.checks.lesson_10.start import (
    check_10_1 as check_10_1,
    check_10_2 as check_10_2,
)
from lessons.toolkit.checks.lesson_10.steps import (
    check_10_4 as check_10_4,
    check_10_5 as check_10_5,
)
