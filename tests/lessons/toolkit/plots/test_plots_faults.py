"""Tests of the picture of a missing line's effect, from two kept runs."""

from pathlib import Path

from pictures import is_png, words

from autograder.reading.files import read_files
from lessons.toolkit import plots

KEPT = Path(__file__).parents[2] / "planted" / "outputs" / "07"


def kept(name):
    run, _ = read_files([KEPT / f"{name}.out.txt"])  # the second one is the probe's
    return run


def test_each_fault_is_a_line_and_a_row():
    average = kept("not-wrapped")
    figure = plots.faults({"nothing": kept("right"), "average": average}, more=["nowhere"])
    numbers = (average.end["param_spread"], average.epochs[-1].train_loss.value)
    shown = {f"{number:.3g}" for number in numbers}
    assert {"nothing", "average", "0", "0.002", *shown} <= set(words(figure))
    left, right = (axes for axes in figure.axes if axes.lines)
    assert [line.get_label() for line in right.lines] == ["nothing", "average"]
    assert len(left.lines) == 2
    assert [len(line.get_xdata()) for line in right.lines] == [2, 2], "an epoch each"
    assert "nowhere" not in words(figure), "a column that says nothing"
    assert is_png(figure)
