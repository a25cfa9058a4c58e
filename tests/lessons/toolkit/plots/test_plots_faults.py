"""Tests of the picture of a missing line's effect, from two kept runs."""

from pathlib import Path

from pictures import is_png, words

from autograder.reading.files import read_files
from lessons.toolkit import plots
from lessons.toolkit.plots.faults import looks

KEPT = Path(__file__).parents[2] / "planted" / "outputs" / "07"


def kept(name):
    [run] = read_files([KEPT / f"{name}.out.txt"])
    return run


def test_each_fault_is_a_line_and_a_row():
    figure = plots.faults({"nothing": kept("right"), "average": kept("not-wrapped")})
    assert {"nothing", "average", "0.17", "0", "0.225", "0.002"} <= set(words(figure))
    left, right = (axes for axes in figure.axes if axes.lines)
    assert [line.get_label() for line in right.lines] == ["nothing", "average"]
    assert len(left.lines) == 2
    assert [len(line.get_xdata()) for line in right.lines] == [2, 2], "an epoch each"
    assert is_png(figure)


def test_a_run_that_nobody_looked_at_has_the_spread_of_its_end():
    assert looks(kept("no-broadcast"), "spread") == [(200, 0.2099180519580841)]


def test_a_lesson_chooses_its_trace_and_its_columns():
    runs = {"nothing": kept("right"), "average": kept("not-wrapped")}
    figure = plots.faults(runs, path="", more=("drawn_error", "lr_base", "nowhere"))
    assert len([axes for axes in figure.axes if axes.lines]) == 1, "no trace by step: only losses"
    [error] = [m.value for m in runs["average"].measures if m.name == "drawn_error"][-1:]
    assert {"drawn\nerror", "0", f"{error:.3g}", "lr\nbase", "0.001", "nowhere", "?"} <= set(
        words(figure)
    )
    assert is_png(figure)
