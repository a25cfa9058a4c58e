"""The tables, one file for each lesson; lazy answers are jobs and mistakes like the others."""

from importlib import import_module

from tests.lessons.planted.lazies import LAZIES
from tests.lessons.planted.lazy import with_lazy

LESSONS = {
    number: with_lazy(import_module(f"{__name__}.lesson_{number}").LESSON, lazies)
    for number, lazies in LAZIES.items()
}
