"""Tests of pictures of a measured pipeline, from the record of a run."""

import pytest
from pictures import is_png, words

from lessons.toolkit import plots
from tests.autograder.make_run import make_run


def run_of(measures):
    header = {"stages": 2, "source": "speed"}
    return make_run(
        format="record", outcome="completed", epochs=(), workers=2, header=header,
        files=("/somewhere/speed.out",), measures=tuple(measures),
    )  # fmt: skip


ROUNDS = [
    {"name": "pipeline_round", "round": number, "alone_s": 0.2, "value": best,
     "together_s": {"1": 0.21, "4": best, "16": 0.3}}
    for number, best in ((1, 0.14), (2, 0.15), (3, 0.16))
]  # fmt: skip


def test_steps_by_micro_batches_with_every_round_and_the_least():
    figure = plots.step_times(run_of(ROUNDS), predicted=0.7)
    [axes] = figure.axes
    drawn = words(figure)
    assert "150 ms" in drawn
    assert "one process: 200 ms" in drawn
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert lines["2 stages, median"] == pytest.approx([210, 150, 300])
    assert lines["one process / stages, and bubble"] == pytest.approx([200, 125, 106.25])
    assert lines["you said"] == pytest.approx([140])
    assert sum(line.get_linestyle() == "None" for line in axes.lines) == 4  # rounds and your star
    assert is_png(figure)
