"""Tests of pictures of several ranks, from runs as the autograder reads them."""

from dataclasses import replace

import pytest
from pictures import is_png, words

from autograder.records import Epoch, Number, Rank
from lessons.toolkit import plots
from tests.autograder.make_record import some_rounds
from tests.autograder.make_run import make_measures, make_run


def run_of(*ranks, seconds=(3.0, 1.0, 1.2), total=8.0, accuracy=0.95):
    return make_run(
        files=("a.out",),
        format="record",
        outcome="completed",
        workers=len(ranks),
        ranks=ranks,
        epochs=tuple(
            Epoch(n, seconds=Number(value), steps=25, unique_samples=100)
            for n, value in enumerate(seconds, start=1)
        ),
        total_seconds=Number(total),
        test_accuracy=Number(accuracy),
        header={"dataset": {"train_samples": 100}},
    )


def test_rounds_are_drawn_as_they_were_measured_and_kept(tmp_path):
    seconds = ((1.0, 1.0, 1.25), (2.0, 2.0, 2.5), (1.0, 2.0, 2.25))
    run = replace(run_of(Rank(0), Rank(1)), measures=make_measures(some_rounds(*seconds)))
    figure = plots.speed_rounds(run, save=str(tmp_path / "my_speedup.png"))
    assert "0.80 (0.80 … 0.89) of what this machine can give" in words(figure)
    alone, silent, together = (list(line.get_ydata()) for line in figure.axes[0].lines)
    assert alone == [2 * 4 * 64 / one for one, _, _ in seconds]
    assert silent == [2 * 4 * 64 / one for _, one, _ in seconds]
    assert together == [2 * 4 * 64 / one for _, _, one in seconds]
    assert "together: gradients averaged (1.60 times one)" in words(figure)
    assert (tmp_path / "my_speedup.png").stat().st_size > 3000
    assert is_png(figure)


HALVES = (Rank(0, slices=((0, 25, 1), (50, 75, 1))), Rank(1, slices=((25, 50, 1), (75, 100, 1))))


@pytest.mark.parametrize(
    ("ranks", "never", "twice"),
    [
        (HALVES, 0, 0),
        ((Rank(0, slices=((0, 100, 2),)), Rank(1, slices=((1, None, 2),))), 0, 0),
        ((Rank(0, shard_ids_hash="all"), Rank(1, shard_ids_hash="all")), 0, 100),
        ((HALVES[0], HALVES[0]), 50, 50),
        ((HALVES[0], Rank(1, shard_ids_hash="all")), 0, 50),
    ],
)
def test_the_map_counts_what_is_unread_and_what_is_read_twice(ranks, never, twice):
    shares = plots.shares_of(run_of(*ranks))
    figure = plots.sample_map({"a run": shares}, 100)
    assert f"a run: {never} never read, {twice} more than once" in words(figure)
    assert {"rank 0", "rank 1", "together"} <= set(words(figure))
    assert is_png(figure)


def test_bytes_by_batch_cross_where_both_ways_send_the_same():
    sent = {("data", 32): 5e6, ("data", 1024): 5e6, ("tensor", 32): 4e5, ("tensor", 1024): 1.3e7}
    run = make_run(
        files=("a.out",),
        format="record",
        outcome="completed",
        measures=[
            {"name": "step_s", "value": 0.1, "way": way, "batch": batch, "bytes": size}
            for (way, batch), size in sent.items()
        ],
    )
    figure = plots.bytes_by_batch(run, 4e6, 1e4)
    (axes,) = figure.axes
    assert "400 images" in words(figure)
    assert [len(line.get_xdata()) for line in axes.lines] == [2, 2, 2, 2, 2]
    assert is_png(figure)
