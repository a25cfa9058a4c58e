"""Tests of lesson 01's program: its gradients, its batches, and its accuracy on MNIST."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from solution_programs import SOLUTIONS, program

from autograder.reading.files import read_files
from lessons.toolkit.checks.lesson_01 import differences
from tests.breadth import breadth

PROGRAM = SOLUTIONS / "01_learning" / "train.py"
train = program("01_learning", "train")


@pytest.mark.parametrize("seed", range(5))
def test_hand_written_gradients_equal_central_differences(seed):
    rng = np.random.default_rng(seed)
    inputs, hidden, outputs, n = rng.integers(2, 9, size=4)
    params = [part.astype(np.float64) for part in train.start(rng, inputs, hidden, outputs)]
    params[1] += rng.normal(size=hidden)  # away from relu's corner
    x, labels = rng.normal(size=(n, inputs)), rng.integers(0, outputs, n)

    def loss(_):
        return train.cross_entropy(train.forward(params, x)[0], labels)

    found = train.backward(train.forward(params, x)[1], labels)
    for param, gradient in zip(params, found, strict=True):
        right = differences(loss, param)
        assert gradient.shape == param.shape
        assert np.abs(gradient - right).max() <= 1e-5 * max(np.abs(right).max(), 1e-3)


@settings(deadline=None)
@given(n=st.integers(1, 300), batch=st.integers(1, 400), seed=st.integers(0, 9))
def test_batches_are_a_permutation(n, batch, seed):
    rng = np.random.default_rng(seed)
    first, second = train.minibatches(n, batch, rng), train.minibatches(n, batch, rng)
    for batches in (first, second):
        assert len(batches) == -(-n // batch)
        assert sorted(np.concatenate(batches)) == list(range(n))
    if n > 50:
        assert not np.array_equal(np.concatenate(first), np.concatenate(second))


def test_probabilities_of_huge_scores_are_finite():
    params = train.start(np.random.default_rng(1), 4, 5, 3)
    with np.errstate(all="raise", under="ignore"):
        probabilities, _ = train.forward(params, np.full((2, 4), 1e6, np.float32))
    assert np.allclose(probabilities.sum(axis=1), 1)


def run(folder, *arguments):
    command = [sys.executable, "-u", str(PROGRAM), *arguments]
    environ = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with (folder / "job.out").open("w") as sink:
        subprocess.run(command, cwd=folder, env=environ, stdout=sink, check=True, timeout=300)
    [found] = read_files([folder / "job.out"])
    return found


@pytest.mark.parametrize("samples", breadth(["1601", "12800"]))
def test_a_run_says_what_the_rubric_asks(samples, tmp_path):
    found = run(tmp_path, "--epochs", "3", "--train-samples", samples)
    assert found.outcome == "completed"
    assert found.header["params"] == 50_890
    assert [epoch.steps for epoch in found.epochs] == 3 * [-(-int(samples) // 32)]
    assert [epoch.unique_samples for epoch in found.epochs] == 3 * [int(samples)]
    assert np.load(tmp_path / "weights.npy").shape == (50_890,)
    if samples == "12800" and not found.header.dataset.synthetic:
        assert found.test_accuracy.value >= 0.92
