"""Tests of the picture of a training over several lives."""

from pictures import is_png, words

from lessons.toolkit import plots
from tests.autograder.make_run import make_run

LIVES = [
    {"life": 0, "first": 0, "last": 3, "ended": "kill", "lost": 1, "losses": [4.0, 3.0, 2.5]},
    {"life": 1, "first": 2, "last": 5, "ended": "warning", "lost": 0, "losses": [2.5, 2.0, 1.9]},
    {"life": 2, "first": 5, "last": 6, "ended": "end", "lost": 0, "losses": [1.8]},
]


def run_of(lives):
    measures = tuple({"name": "life", "value": life["lost"], **life} for life in lives)
    return make_run(
        format="record", outcome="completed", epochs=(), workers=2, header={"source": "train"},
        files=("/somewhere/survive.out",), measures=measures,
    )  # fmt: skip


def test_each_life_continues_the_curve_where_it_was_saved():
    figure = plots.lives(run_of(LIVES), beside=run_of([{**LIVES[0], "ended": "end"}]))
    [axes] = figure.axes
    curves = {line.get_label(): [*map(list, line.get_data())] for line in axes.get_lines()}
    assert curves["life 1: killed after step 3"] == [[1, 2, 3], [4, 3, 2.5]]
    assert curves["life 2: warned after step 5"] == [[2, 3, 4, 5], [3, 2.5, 2, 1.9]]
    assert curves["life 3: complete after step 6"] == [[5, 6], [1.9, 1.8]]
    assert "1 lost" in words(figure)
    assert is_png(figure)
