"""Tests of the pictures of lessons 01, 06 and 09."""

import numpy as np
from pictures import is_png, words

from lessons.toolkit import plots


def test_curves_are_named_and_points_counted():
    figure = plots.fitted_curves([0, 1], [1, 2], {"10 steps": ([0, 1], [1, 1])})
    assert {"2 points", "10 steps"} <= set(words(figure))
    assert is_png(figure)


def test_a_loss_that_runs_away_is_said_to_leave_the_picture():
    runs = {"lr 0.1": [3, 2, 1], "lr 9": [3, 50, float("inf")], "lr 99": [3, float("nan"), 1]}
    figure = plots.losses(runs, highest=10)
    told = words(figure)
    assert "lr 0.1" in told
    assert "lr 9: leaves the picture" in told
    assert "lr 99: leaves the picture" in told
    assert is_png(figure)


def test_the_units_with_the_largest_weights_are_shown():
    weights = np.zeros((784, 20))
    weights[0] = np.arange(20) + 1
    figure = plots.weight_images(weights, count=3)
    assert [axes.get_title() for axes in figure.axes] == ["unit 19", "unit 18", "unit 17"]
    assert is_png(figure)


def test_times_of_an_exchange_with_their_model():
    points = {"ring": [(1e3, 1e-5), (1e6, 1e-3)], "library": [(1e3, 1e-5)]}
    figure = plots.allreduce_times(points, {"ring": lambda n: 1e-5 + 1e-9 * n}, [1e6])
    told = words(figure)
    assert {"ring", "ring, model", "library", "not used in the fit"} <= set(told)
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert is_png(figure)


def test_who_has_not_reached_the_loss_may_not_claim_a_gap():
    runs = {
        "N = 1": [[(0.3, 0.90), (0.1, 0.95)], [(0.3, 0.90), (0.12, 0.94)]],
        "N = 64": [[(0.9, 0.70), (0.2, 0.92)], [(0.9, 0.70), (0.14, 0.93)]],
    }
    told = words(plots.at_equal_loss(runs, 0.15))
    assert "N = 1: test accuracy 0.940 to 0.950 there" in told
    assert "N = 64: has not reached it: no claim" in told


def test_four_curves_to_tell_apart():
    figure = plots.four_curves()
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"curve {n}" for n in "1234"]
    last = [[line.get_ydata()[-1] for line in axes.lines] for axes in figure.axes]
    (slow, _, small), (diverged, _, _), (low, test, _), (right, right_test, _) = last
    assert small < slow < 2.3 < diverged  # still falling; at guessing
    assert low == right == small  # equal training loss
    assert test - low > 5 * (right_test - right)  # and only here a worse test
    assert is_png(figure)


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
