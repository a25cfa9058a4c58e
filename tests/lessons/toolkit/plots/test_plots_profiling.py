"""Tests of lesson 14's pictures: stacked bars of a step, traces, and the roofline."""

from pictures import is_png

from lessons.toolkit import plots
from tests.autograder.make_run import make_run


def run_of(*steps):
    measures = [
        {"name": "step_ms", "value": value, "way": way, "round": number, "input_ms": value / 2,
         "gradients_ms": value / 4}
        for number, (way, value) in enumerate(steps)
    ]  # fmt: skip
    return make_run(
        format="record", outcome="completed", epochs=(), workers=1, header={"source": "step"},
        files=("/somewhere/profile.out",), measures=tuple(measures),
    )  # fmt: skip


def test_a_bar_has_the_median_of_the_rounds():
    run = run_of(("before", 40.0), ("before", 100.0), ("before", 60.0), ("after", 20.0))
    assert plots.parts_of(run)["before"] == {
        "input": 30, "gradients": 15, "update": 0, "note": 0, "other": 15,
    }  # fmt: skip
    figure = plots.step_bars(run)
    assert {"  60.0 ms", "  20.0 ms"} <= {text.get_text() for text in figure.axes[0].texts}
    assert is_png(figure)
    assert is_png(plots.step_bars(run_of()))
