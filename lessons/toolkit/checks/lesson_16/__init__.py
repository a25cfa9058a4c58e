"""Public checks of lesson 16: TensorFlow's own methods and parameter servers."""

from lessons.toolkit.checks.lesson_16.staleness import check_16_2 as check_16_2
from lessons.toolkit.checks.lesson_16.tf_config import check_16_1 as check_16_1
