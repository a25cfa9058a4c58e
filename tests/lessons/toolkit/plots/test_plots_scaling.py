"""Tests of the pictures of a scaling study: every round a point, and laws beyond the data."""

from dataclasses import replace

import pytest
from pictures import is_png, words

from autograder.measuring.interval import Measure
from lessons.toolkit import plots, scaling_report
from tests.autograder.make_study import study

ROUNDS = [(8.0, 5.0, 3.0), (16.0, 9.0, 6.0), (8.2, 4.9, 2.8)]
SILENT = [8.5, 8.6, 8.4]


def runs():
    found = [run for kind in ("strong", "epoch") for run in study(kind, ROUNDS, sizes=(1, 2, 4))]
    weak = [(8.0, 8.2, 9.0), (8.0, 8.4, 9.1), (8.1, 8.2, 9.2)]
    return found + study("weak", weak, sizes=(1, 2, 4), silent=SILENT)


@pytest.mark.slow
def test_every_round_is_a_point_beside_the_ceiling():
    figure = plots.scaling_study(runs())
    left, right = figure.axes[:2]
    sizes = [len(line.get_xdata()) for line in left.lines]
    assert sizes.count(1) == 3 * 3 * 3 + 1  # kinds, rounds and sizes, and the silent copies
    assert sizes.count(3) == 3 + 1  # the medians, and the ideal
    assert [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()] == [
        "ideal", "silent copies", "strong", "epoch", "weak",
    ]  # fmt: skip
    assert left.get_ylabel() == "work per time, one rank = 1"
    assert right.get_ylabel() == "efficiency"
    assert is_png(figure)


def test_what_laws_leave_open_is_shaded_beyond_the_data():
    fits = [0.02], [0.3], (0.02, 0)
    figure = plots.laws_beyond({"small": ([1, 2, 4], [1, 1.9, 3.6])}, {"small": fits}, 64)
    (axes,) = figure.axes
    shaded = axes.collections[0].get_paths()[0].vertices
    assert shaded[:, 0].min() >= 4 * 0.99
    assert shaded[:, 0].max() == pytest.approx(64)
    assert "small" in words(figure)
    assert is_png(figure)


def test_points_may_be_shown_before_any_law():
    figure = plots.laws_beyond({"small": ([1, 2, 4], [1, 1.9, 3.6])}, {}, 64)
    assert not figure.axes[0].collections
    assert is_png(figure)


@pytest.mark.slow
def test_the_report_says_what_the_records_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scaling_report.write(
        runs(), laws={"f": "0.02"}, question="How many?", recommendation="Two.", unknown="Much.",
        costs={"job 7": "1.4 GPU-hours, 1.4 kWh"},
    )  # fmt: skip
    text = (tmp_path / "report.md").read_text()
    assert (tmp_path / "study.png").stat().st_size > 5000
    for part in (
        "## Question\n\nHow many?",
        "### weak",
        "- f: 0.02",
        "## Cost\n\n- job 7: 1.4 GPU-hours, 1.4 kWh",
        "## What is not known\n\nMuch.",
    ):
        assert part in text
    assert "4 ranks that exchange nothing do 3.76 times" in text
    assert "3 tables" in capsys.readouterr().out


def test_a_form_counts_once_it_has_a_readers_name(tmp_path):
    form = tmp_path / scaling_report.FORM
    for text, kept in (("Read by:\n\n1. …", False), ("Read by: ada\n\n1. …", True)):
        form.write_text(text)
        assert bool(scaling_report.read_form(form)) == kept


@pytest.mark.parametrize(
    ("value", "low", "high", "crowded"),
    [
        (1.9, 1.79, 2.24, False),
        (1.0, 0.9, 1.1, False),
        (2.38, 0.2, 15.58, True),
        (2.3, 2.2, 2.4, True),
    ],
)
def test_copies_that_do_more_than_there_are_of_them_were_not_alone(value, low, high, crowded):
    assert scaling_report.is_crowded(Measure(value, low, high), 2) == crowded


def test_a_study_beside_other_programs_is_said_to_be_worth_little(capsys):
    scaling_report.tell_crowded(runs())
    assert capsys.readouterr().out == ""
    odd = [(SILENT[0] / 8), *SILENT[1:]]
    scaling_report.tell_crowded(
        [
            replace(r, job_id="9")
            for r in study("weak", [(8.0, 8.2, 9.0)] * 3, sizes=(1, 2, 4), silent=odd)
        ]
    )
    assert "job 9: 4 ranks that exchange nothing did" in capsys.readouterr().out
