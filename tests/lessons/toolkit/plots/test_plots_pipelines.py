"""Tests of drawn schedules: the text in the picture."""

import pytest
from pictures import is_png, words

from lessons.toolkit import plots
from lessons.toolkit.ranks.schedules import interleaved, one_forward_one_backward


@pytest.mark.slow
def test_schedules_say_bubble_and_what_is_held():
    gpipe = [[(kind, k) for kind in "FB" for k in range(8)] for _ in range(4)]
    figure = plots.drawn_schedules(
        {"GPipe": gpipe, "1F1B": one_forward_one_backward(4, 8), "two": interleaved(4, 8, 2)}
    )
    assert is_png(figure)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "GPipe: 33 units of time, 27% of it bubble; held at most 8 / 8 / 8 / 8",
        "1F1B: 33 units of time, 27% of it bubble; held at most 4 / 3 / 2 / 1",
        "two: 28.5 units of time, 16% of it bubble; held at most 5.5 / 4.5 / 3.5 / 2.5",
    ]
    written = words(figure)
    assert {"stage 0", "stage 3", "forward", "backward", "forward, second piece"} <= set(written)
    assert written.count("7") == 2 * 4 * (1 + 1 + 2)
