"""Lesson 11: when the model does not fit."""

from tests.lessons.planted.lessons import cut_11, stages_11
from tests.lessons.planted.table import Lesson

LESSON = Lesson(
    folder="11_pipeline",
    jobs=stages_11.JOBS | cut_11.JOBS,
    handed_in=cut_11.HANDED_IN | stages_11.HANDED_IN,
    mistakes=stages_11.MISTAKES | cut_11.MISTAKES,
    may=frozenset({"speed"}),  # timed, while other work may go on
)
