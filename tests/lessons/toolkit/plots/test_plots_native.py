"""Tests of the picture of lesson 10: buckets of gradients."""

from dataclasses import replace

import pytest
from pictures import words

from autograder.records import Rank
from lessons.toolkit import plots
from tests.autograder.make_run import make_measures
from tests.lessons.toolkit.plots.test_plots_workers import run_of


def told(name, value, bucket_mb, late_ms=0.0, **more):
    return {"name": name, "value": value, "bucket_mb": bucket_mb, "late_ms": late_ms, **more}


MEASURES = (
    told("step_s", 0.2, 0.25),
    told("backward_s", 0.1, 0.25),
    told("bucket_left_s", 0.02, 0.25, bucket=0, arrived_s=0.05),
    told("bucket_left_s", 0.09, 0.25, bucket=1, arrived_s=0.1),
    told("backward_s", 0.12, 25.0),
    told("bucket_left_s", 0.1, 25.0, bucket=0, arrived_s=0.12),
    told("backward_s", 0.3, 25.0, late_ms=40.0),
)


def test_each_bucket_is_drawn_from_where_it_left_to_where_it_arrived():
    figure = plots.buckets(replace(run_of(Rank(0), Rank(1)), measures=make_measures(MEASURES)))
    bars = [(bar.get_x(), bar.get_width()) for bar in figure.axes[0].patches]
    expected = [(0, 90), (20, 30), (90, 10), (0, 100), (100, 20)]
    assert [value for bar in bars for value in bar] == pytest.approx(
        [value for bar in expected for value in bar]
    )
    assert {"0.25 MB: 2 buckets", "25 MB: 1 bucket"} <= set(words(figure))
