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
    assert measures(probe.gradients) == {"gradient_error": 0, "descent_error": 0}
    right = {"images_missing": 0, "images_read_again": 0, "reading_orders": 2}
    assert measures(probe.two_epochs) == right


@pytest.mark.parametrize("part", range(4))
def test_each_array_of_gradients_counts(part):
    def backward(cache, labels, right=learning.backward):
        found = right(cache, labels)
        found[part] = np.zeros_like(found[part])
        return found

    found = measures(probe.gradients, backward=backward)
    assert found == {"gradient_error": 1, "descent_error": 0}


def at_a_rate_of_its_own(params, gradients, lr):
    for param, gradient in zip(params, gradients, strict=True):
        param -= 0.1 * gradient


@pytest.mark.parametrize("update", [lambda *_: None, at_a_rate_of_its_own])
def test_a_step_that_is_none_or_of_another_length_is_wrong(update):
    found = measures(probe.gradients, update=update)
    assert found == {"gradient_error": 0, "descent_error": 1}


USELESS = [None, 1, "x", [None] * 4, ["a", "b", "c", "d"], [{}, [], (), 0], {}]


@pytest.mark.parametrize("answer", USELESS, ids=repr)
def test_a_useless_answer_fails_the_test(answer):
    assert measures(probe.gradients, backward=lambda *_: answer)["gradient_error"] == 1
    assert isinstance(measures(probe.two_epochs, minibatches=lambda *_: answer), str)


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
