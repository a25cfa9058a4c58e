"""Tests of pictures, from runs as the autograder reads them and from plain lists."""

from types import SimpleNamespace

from pictures import is_png, words

from autograder.records import Epoch, Number, Rank
from cluster.schedulers import history
from lessons.toolkit import plots
from tests.autograder.make_run import make_run

HEADER = {"device": "CPU of a test", "started": "2025-01-02T03:04:05+00:00", "model": "mlp512"}


def run_of(seconds, *, half_width=0.0, workers=1, accuracies=(), **more):
    accuracies = accuracies or [None] * len(seconds)
    epochs = tuple(
        Epoch(
            number,
            seconds=Number(value, half_width),
            unique_samples=60000,
            train_accuracy=None if accuracy is None else Number(accuracy),
        )
        for number, (value, accuracy) in enumerate(zip(seconds, accuracies, strict=True), start=1)
    )
    more = {"header": HEADER, "files": (f"/somewhere/out_{workers}.out",)} | more
    return make_run(format="record", outcome="completed", epochs=epochs, workers=workers, **more)


def bars(figure):
    """Return (height, hatched) of each bar of an epoch."""
    patches = figure.axes[0].patches
    return [(bar.get_height(), bool(bar.get_hatch())) for bar in patches if bar.get_height()]


def test_the_first_epoch_is_hatched_and_not_in_the_time():
    runs = {"Keras": run_of([9.0, 2.0, 4.0, 3.0]), "PyTorch": run_of([8.0, 1.0, 1.0, 1.5])}
    figure = plots.epoch_bars(runs)
    assert bars(figure) == [
        (9.0, True), (2.0, False), (4.0, False), (3.0, False),
        (8.0, True), (1.0, False), (1.0, False), (1.5, False),
    ]  # fmt: skip
    assert "Keras: 3.00 s per epoch (median of epochs 2 to 4), the black line" in words(figure)
    assert "PyTorch: 1.00 s per epoch (median of epochs 2 to 4), the black line" in words(figure)
    assert is_png(figure)


def test_a_run_of_which_nothing_is_known_is_an_empty_picture():
    assert is_png(plots.epoch_bars({"Keras": run_of([])}))
    assert is_png(plots.accuracy_curves({"Keras": run_of([])}))


def test_accuracy_curves_with_the_test_accuracy():
    run = run_of([3.0, 2.0], accuracies=[0.9, 0.95], test_accuracy=Number(0.9321))
    long = plots.accuracy_curves({"Keras": run_of([1.0] * 41, accuracies=[0.8] * 41)})
    assert len(long.axes[0].get_xticks()) <= 15
    figure = plots.accuracy_curves({"Keras": run, "other": run_of([1.0], accuracies=[0.8])})
    lines = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert lines == [[0.9, 0.95], [0.9321], [0.8]]
    assert "Keras, test: 0.9321" in words(figure)
    assert is_png(figure)


def test_squares_for_tasks_in_the_rows_of_their_nodes(monkeypatch):
    ranks = tuple(Rank(n, host=f"node0{1 + n // 2}", local_rank=n % 2) for n in range(4))
    run = run_of([], ranks=ranks, workers=4, total_seconds=Number(20.0), job_id="7")
    submitted = 1735787045.0 - 10  # ten seconds before the header's time
    monkeypatch.setattr(history, "with_id", lambda _: SimpleNamespace(submitted=submitted))
    figure = plots.node_grid(run)
    places = {b.get_y() + b.get_height() / 2 for b in figure.axes[0].patches}
    assert places == {0, 1}
    written = words(figure)
    assert "4 of 4 tasks on 2 nodes" in written
    assert "rank 3\nlocal 1" in written
    assert {"node01", "node02", "submitted", "started after 10 s", "ended after 30 s"} <= set(
        written
    )
    assert is_png(figure)
