"""Tests of the pictures of lessons 01, 06 and 09."""

from pictures import is_png, words

from lessons.toolkit import plots


def test_who_has_not_reached_the_loss_may_not_claim_a_gap():
    runs = {
        "N = 1": [[(0.3, 0.90), (0.1, 0.95)], [(0.3, 0.90), (0.12, 0.94)]],
        "N = 64": [[(0.9, 0.70), (0.2, 0.92)], [(0.9, 0.70), (0.14, 0.93)]],
    }
    told = words(plots.at_equal_loss(runs, 0.15))
    assert "N = 1: test accuracy 0.940 to 0.950 there" in told
    assert "N = 64: has not reached it: no claim" in told


def test_a_race_draws_every_seed_and_says_who_did_not_arrive():
    epochs = {1: [4, 5], 16: [9, 10], 64: [19, None]}
    gains = {1: [1.1, 0.9], 16: [8.0, 7.2], 64: [15.2]}
    figure = plots.race(epochs, gains, 0.93)
    assert {"epochs until 0.93", "a seed did not reach it"} <= set(words(figure))
    left, right = figure.axes
    assert [list(line.get_ydata()) for line in left.lines[:3]] == [[4, 5], [9, 10], [19]]
    assert [list(line.get_xdata()) for line in left.lines if line.get_marker() == "x"] == [[64]]
    assert [list(line.get_ydata()) for line in right.lines[:3]] == [[1.1, 0.9], [8.0, 7.2], [15.2]]
    assert is_png(figure)
    assert is_png(plots.race({1: [None], 16: [9]}, {1: [], 16: []}, 0.93))
