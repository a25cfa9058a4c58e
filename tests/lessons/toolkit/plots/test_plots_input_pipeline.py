"""Tests of pictures of the input, from runs as the autograder reads them."""

import pytest
from pictures import is_png, words

from autograder.records import Epoch, Number
from lessons.toolkit import plots
from tests.autograder.make_run import make_run


def run_of(*seconds, samples=1000, source="files", **measures):
    return make_run(
        files=("a.out",),
        format="record",
        outcome="completed",
        epochs=tuple(
            Epoch(n, seconds=Number(value), unique_samples=samples)
            for n, value in enumerate(seconds, start=1)
        ),
        header={"source": source, "model": "ResNet50V2"},
        measures=tuple(
            {"name": name, "value": value} for name, values in measures.items() for value in values
        ),
    )


def test_the_table_names_each_way_and_how_much_faster_it_is():
    runs = {"files": run_of(9.0, 1.0, 1.0, 1.1), "packs": run_of(9.0, 0.2, 0.25, 0.25)}
    figure = plots.input_rates(runs, run_of(9.0, 20.0, 20.0), {"a GPU": 3571.4})
    said = words(figure)
    assert {"files: 1,000 (1.0 times the first)", "packs: 4,000 (4.0 times the first)"} <= set(said)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["ResNet50V2, here: 50.0 per second", "a GPU: 3,571 per second"]
    assert is_png(figure)


def test_each_run_of_the_overlap_is_measured_against_its_own_input():
    ahead = run_of(9.0, 1.2, 1.3, input_s=[1.0, 1.1], compute_s=[1.0, 1.0])
    in_turn = run_of(9.0, 2.5, 2.4, input_s=[1.4, 1.5], compute_s=[0.9, 0.9])
    assert plots.median_of_measure([ahead], "input_s") == pytest.approx(1.05)
    figure = plots.input_overlap(ahead, in_turn)
    assert {" 2.45 s", " 1.25 s"} <= set(words(figure))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    marks = [marks.get_segments()[0][0][0] for marks in figure.axes[0].collections]
    assert dict(zip(legend, marks, strict=False)) == {
        "expected: the sum of both": pytest.approx(1.45 + 0.9),
        "expected: the longer of both": pytest.approx(1.05),
    }
    assert is_png(figure)
    with pytest.raises(ValueError, match="--compute-ms"):
        plots.input_overlap(run_of(9.0, 1.0), run_of(9.0, 1.0))
