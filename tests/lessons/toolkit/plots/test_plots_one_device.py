"""Tests of pictures of one device and of replicas, from runs as the autograder reads them."""

import pytest
from pictures import is_png, words

from autograder.records import Epoch, Number
from lessons.toolkit import plots
from tests.autograder.make_run import make_run


def run_of(batch=64, replicas=None, seconds=(9.0, 4.0, 2.0), loss=2.5):
    return make_run(
        files=("a.out",),
        format="record",
        outcome="completed",
        workers=1,
        epochs=tuple(
            Epoch(n, seconds=Number(value), steps=8, unique_samples=512,
                  train_loss=Number(loss), train_accuracy=Number(0.2))
            for n, value in enumerate(seconds, start=1)
        ),
        header={
            "dataset": {"train_samples": 512}, "image_size": 32, "global_batch": batch,
            "local_batch": batch, "model": "cnn", "replicas": replicas,
        },
    )  # fmt: skip


def test_throughput_leaves_the_first_epoch_out():
    figure = plots.throughput_by_batch({"light": [run_of(64), run_of(16)]})
    [line, *_] = figure.axes[0].containers[0]
    assert line.get_xydata().tolist() == [[16, 512 / 3], [64, 512 / 3]]
    assert is_png(figure)


def test_whole_seconds_give_intervals():
    figure = plots.speedups({"book": plots.whole_seconds({1: 14, 2: 8, 4: 5})})
    _, gain, _ = figure.axes
    [_, _, (bars,)] = gain.containers[0]
    ends = [tuple(round(y, 2) for y in segment[:, 1]) for segment in bars.get_segments()]
    assert ends == [(1.0, 1.0), (1.59, 1.93), (2.45, 3.22)]
    assert "book" in words(figure)
    assert is_png(figure)


def test_runs_without_an_epoch_time_are_refused():
    times = plots.epoch_times([run_of(seconds=(9.0,))])
    with pytest.raises(ValueError, match="two epochs"):
        plots.speedups({"your runs": times})


def test_runs_of_replicas_are_exact_and_the_later_one_counts():
    runs = [run_of(replicas=1), run_of(replicas=2), run_of(replicas=2, seconds=(9.0, 1.5))]
    times = plots.epoch_times(runs)
    assert {count: time.value for count, time in times.items()} == {1: 3.0, 2: 1.5}
