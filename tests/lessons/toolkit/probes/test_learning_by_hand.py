"""Tests of probes of students' functions: the solution is right, and no other stops a run."""

import sys
from unittest import mock

import numpy as np
import pytest
from solution_programs import program

from lessons.toolkit.probes.on_ranks import attempt

learning = program("01_learning", "train")
with mock.patch.dict(sys.modules, train=learning):
    probe = program("01_learning", "probe")


def measures(test, **functions):
    """Return what a test of lesson 01's probe finds with other functions, or why it fails."""
    with mock.patch.dict(vars(learning), functions):
        found, reason = attempt(test, [])
    return found or reason


def test_the_solutions_are_right():
    assert measures(probe.gradients)["gradient_error"] < 1e-6
    assert measures(probe.one_step)["descent_error"] < 1e-12
    right = {"images_missing": 0, "images_read_again": 0, "reading_orders": 2}
    assert measures(probe.two_epochs) == right


@pytest.mark.parametrize("part", range(4))
def test_each_array_of_gradients_counts(part):
    def backward(cache, labels, right=learning.backward):
        found = right(cache, labels)
        found[part] = np.zeros_like(found[part])
        return found

    assert measures(probe.gradients, backward=backward) == {"gradient_error": 1.0}


def test_part_of_an_error_is_told_as_a_share():
    def nearly(cache, labels, right=learning.backward):
        return [1.25 * gradient for gradient in right(cache, labels)]

    def too_far(params, gradients, lr, right=learning.update):
        right(params, gradients, 1.25 * lr)

    found = measures(probe.gradients, backward=nearly)
    assert found["gradient_error"] == pytest.approx(0.25)
    assert measures(probe.one_step, update=too_far)["descent_error"] == pytest.approx(0.25)


USELESS = [None, 1, "x", [None] * 4, ["a", "b", "c", "d"], [{}, [], (), 0], {}]


@pytest.mark.parametrize("answer", USELESS, ids=repr)
def test_a_useless_answer_fails_the_test(answer):
    for test, name in ((probe.gradients, "backward"), (probe.two_epochs, "minibatches")):
        assert isinstance(measures(test, **{name: lambda *_: answer}), str)


def test_a_step_that_changes_nothing_is_all_wrong():
    found = measures(probe.one_step, update=lambda *_: None)
    assert found["descent_error"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("batches", "wrong"),
    [
        ([[*range(64)]] * 2, {"images_missing": 11, "reading_orders": 1}),
        ([[0, *range(75)], [*range(74, -1, -1)]], {"images_read_again": 1}),
    ],
)
def test_images_that_are_left_out_or_read_again_are_counted(batches, wrong):
    epochs = iter(batches)
    found = measures(probe.two_epochs, minibatches=lambda *_: [next(epochs)])
    assert found == {"images_missing": 0, "images_read_again": 0, "reading_orders": 2} | wrong
