"""Tests of the staircase of memory, from the record of runs."""

from pictures import is_png, words

from lessons.toolkit import plots
from tests.autograder.make_run import make_run

LINES = {
    "ddp": {"forward": [13000, 15000], "backward": [15600, 14000, 13000], "update": [13000]},
    "zero3": {"forward": [5000, 7000], "backward": [8000, 9800, 7000], "update": [7000, 6500]},
    "fsdp": {"forward": [5000], "backward": [9900], "update": [6500]},
}


def run_of(lines):
    measures = [
        {"name": "staircase", "value": 1000 * max(line), "phase": phase, "line_kb": line}
        for phase, line in lines.items()
    ]
    return make_run(
        format="record", outcome="completed", epochs=(), workers=2, header={"source": "zero3"},
        files=("/somewhere/shard.out",), measures=tuple(measures),
    )  # fmt: skip


def test_every_way_is_drawn_beside_copies():
    figure = plots.staircase({way: run_of(lines) for way, lines in LINES.items()})
    [axes] = figure.axes
    assert [line.get_label() for line in axes.get_lines()][:3] == [
        "ddp: 15.6 MB at most",
        "zero3: 9.8 MB at most",
        "fsdp: 9.9 MB at most",
    ]
    assert "MB alive on one rank" in words(figure)
    assert is_png(figure)
