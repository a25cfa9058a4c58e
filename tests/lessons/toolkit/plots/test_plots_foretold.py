"""Tests that the foretold picture draws the interval that the command prints."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.errors import SettingsError
from lessons.toolkit import plots

TIMES = {1: [100.0, 102.0], 2: [51.0, 52.0], 4: [27.0, 27.5], 8: [15.0, 15.1]}


def shade(figure):
    [area] = figure.axes[0].collections
    points = area.get_paths()[0].vertices
    at = points[:, 0].max()
    ends = [y for x, y in points if x == at]
    return at, min(ends), max(ends)


def test_the_shade_ends_where_the_command_says(tmp_path):
    file = tmp_path / "times.csv"
    file.write_text("workers,seconds\n" + "".join(f"{n},{t}\n" for n in TIMES for t in TIMES[n]))
    said = CliRunner().invoke(main, ["foretell", str(file), "--at", "16", "--json"])
    [line] = json.loads(said.stdout)["foretold"]
    for study in (file, TIMES):
        at, low, high = shade(plots.foretold(study, at=[16]))
        assert at == 16
        assert [low, high] == pytest.approx(line["speedup"])


def test_every_repeat_is_a_point_and_the_numbers_stand_below():
    figure = plots.foretold(TIMES)
    [points] = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(points.get_xdata()) == 8
    cells = [cell.get_text().get_text() for cell in figure.axes[1].tables[0].get_celld().values()]
    assert {"16", "32", "64"} <= set(cells)


def test_too_few_sizes_are_said():
    with pytest.raises(SettingsError, match="at least 3 sizes"):
        plots.foretold({1: [9.0], 2: [5.0]})
