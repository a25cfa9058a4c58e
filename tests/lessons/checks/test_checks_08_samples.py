"""The public checks of lesson 08 from 8.4 on: right solutions pass, each mistake gets advice."""

import math

import numpy as np
import pytest
from advice import assert_advice, failure

from lessons.toolkit.checks import lesson_08

# Exercise 8.4
STEPS = [
    (
        lambda counts, batch: max(math.ceil(n / batch) for n in counts),
        "What do the others wait for",
    ),
    (lambda counts, batch: math.ceil(sum(counts) / batch), "the steps of all ranks"),
]


def test_common_steps():
    lesson_08.check_8_4(lambda counts, batch: min(math.ceil(n / batch) for n in counts))
    lesson_08.check_8_4(lambda counts, batch: -(-min(counts) // batch))


@pytest.mark.parametrize(("wrong", "advice"), STEPS)
def test_steps(wrong, advice):
    assert_advice(failure(lesson_08.check_8_4, wrong), advice)


# Exercise 8.5
def my_samples(n, rank, size, epoch, seed=1):
    return np.random.default_rng([seed, epoch]).permutation(n)[rank::size]


ORDERS = [
    (lambda n, rank, size, epoch: np.arange(n)[rank::size], "differs between epochs"),
    (lambda n, rank, size, epoch: np.random.permutation(n)[rank::size], "without a seed"),
    (
        lambda n, rank, size, epoch: np.random.default_rng([rank, epoch]).permutation(n)[
            rank::size
        ],
        "Do all ranks draw the same order",
    ),
    (lambda n, rank, size, epoch: my_samples(n, rank, size, 0), "differs between epochs"),
    (lambda n, rank, size, epoch, seed=1: my_samples(n, rank, size, epoch), "besides the epoch"),
]


def test_my_samples():
    lesson_08.check_8_5(my_samples)


@pytest.mark.parametrize(("wrong", "advice"), ORDERS)
def test_orders(wrong, advice):
    assert_advice(failure(lesson_08.check_8_5, wrong), advice)


# Exercise 8.1
def partition(labels, parts):
    by_class = np.argsort(labels, kind="stable")
    return [np.sort(by_class[part::parts]) for part in range(parts)]


PARTITIONS = [
    (lambda labels, parts: np.array_split(np.arange(len(labels)), parts), "fair to every class"),
    (lambda labels, parts: np.array_split(np.argsort(labels), parts), "fair to every class"),
    (lambda labels, parts: [labels[part::parts] for part in range(parts)], "not labels"),
    (lambda labels, parts: [np.where(labels == part) for part in range(parts)], "np.where(…)"),
    (
        lambda labels, parts: [part[:-1] for part in partition(labels, parts)],
        "does not divide evenly",
    ),
]


def test_partition():
    lesson_08.check_8_1(partition)
    lesson_08.check_8_1(lambda labels, parts: [part.tolist() for part in partition(labels, parts)])


@pytest.mark.parametrize(("wrong", "advice"), PARTITIONS)
def test_partitions(wrong, advice):
    assert_advice(failure(lesson_08.check_8_1, wrong), advice)
