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


def test_published_numbers_are_rings_beside_the_run():
    published = {"loss": [2.0, 1.7, 1.5, 1.4, 1.3], "accuracy": [0.2, 0.3, 0.4, 0.45, 0.5]}
    figure = plots.beside_published(run_of(), published, "a course")
    assert {"your run: 512 images, 32 × 32, batch 64", "a course"} <= set(words(figure))
    mine, rings, *_ = figure.axes[0].lines
    assert mine.get_xydata().tolist() == [[1, 2.5], [2, 2.5], [3, 2.5]]
    assert list(rings.get_ydata()) == published["loss"]
    assert is_png(figure)


def test_throughput_leaves_the_first_epoch_out():
    figure = plots.throughput_by_batch({"light": [run_of(64), run_of(16)]})
    [line, *_] = figure.axes[0].containers[0]
    assert line.get_xydata().tolist() == [[16, 512 / 3], [64, 512 / 3]]
    assert is_png(figure)


def test_a_run_without_times_is_left_out_of_the_throughput():
    figure = plots.throughput_by_batch({"light": [run_of(64), run_of(16, seconds=(1,))]})
    [line, *_] = figure.axes[0].containers[0]
    assert [batch for batch, _ in line.get_xydata()] == [64]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "said"), [(2, "1.75 (1.59 to 1.93)"), (4, "2.80 (2.45 to 3.22)")]
)
def test_whole_seconds_give_intervals(count, said):
    times = plots.whole_seconds({1: 14, count: {2: 8, 4: 5}[count]})
    figure = plots.replica_scaling({"book": times})
    assert {"book", said} <= set(words(figure))
    assert is_png(figure)


def test_runs_of_replicas_are_exact_and_the_later_one_counts():
    runs = [run_of(replicas=1), run_of(replicas=2), run_of(replicas=2, seconds=(9.0, 1.5))]
    times = plots.times_by_replicas(runs)
    assert {count: time.value for count, time in times.items()} == {1: 3.0, 2: 1.5}
    figure = plots.replica_scaling({"mine": times})
    assert "2.00 (1.33 to 2.67)" in words(figure)
