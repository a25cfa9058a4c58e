"""Tests of batches and of scores: every sample once, resized as by PyTorch, no large copy."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lessons.toolkit import data
from lessons.toolkit.data import score

IMAGES = np.random.default_rng(3).integers(256, size=(70, 32, 32, 3), dtype=np.uint8)
LABELS = np.arange(70)


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 90), st.none() | st.integers(0, 99))
def test_every_sample_comes_once_with_its_label(samples, batch, seed):
    x = np.arange(samples, dtype=np.float32)[:, None, None]
    seen = list(data.batches(x, np.arange(samples), batch, seed=seed))
    assert len(seen) == -(-samples // batch)
    assert all(len(images) == batch for images, _ in seen[:-1])
    for images, labels in seen:
        np.testing.assert_array_equal(images[:, 0, 0], labels)
    assert sorted(label for _, labels in seen for label in labels) == list(range(samples))


def test_the_seed_decides_the_order():
    def order(seed):
        return [tuple(labels) for _, labels in data.batches(IMAGES, LABELS, 16, seed=seed)]

    assert order(1) == order(1) != order(2)
    assert [label for labels in order(None) for label in labels] == list(range(70))


@pytest.mark.parametrize("size", [16, 32, 45, 128])
@pytest.mark.parametrize("image", [(28, 28), (32, 32, 3)])
def test_resized_as_torch_does_it(size, image):
    import torch

    x = np.random.default_rng(4).random((5, *image), np.float32)
    planes = torch.from_numpy(x.reshape(5, *image[:2], -1)).permute(0, 3, 1, 2)
    right = torch.nn.functional.interpolate(planes, (size, size), mode="bilinear")
    ours = data.resized(x, size).reshape(5, size, size, -1)
    np.testing.assert_allclose(ours, right.permute(0, 2, 3, 1).numpy(), atol=3e-6)


@pytest.mark.slow
def test_one_batch_at_a_time_is_in_memory():
    x = np.zeros((2000, 32, 32, 3), np.uint8)  # 393 MB as floats of 128 by 128
    tracemalloc.start()
    for _ in data.batches(x, np.zeros(2000), 32, size=128, seed=1):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * 32 * 128 * 128 * 3 * 4  # a few copies of one batch


ANSWERS = np.array([2, 0, 1, 1])
RIGHT = np.eye(3)[ANSWERS]


@pytest.mark.parametrize(
    ("rows", "accuracy", "loss"),
    [
        (RIGHT, 1, 0),
        (np.full((4, 3), 1 / 3), 0.25, np.log(3)),
        (RIGHT[:2], 0.5, -np.log(1e-7) / 2),  # without a row is wrong
        (RIGHT[:0], 0, -np.log(1e-7)),
        (np.concatenate([RIGHT, RIGHT]), 1, 0),  # what is too much does not count
        (np.roll(RIGHT, 1, axis=1), 0, -np.log(1e-7)),
    ],
)
def test_a_score_is_of_all_labels_in_their_order(rows, accuracy, loss):
    assert score(rows.astype(np.float32), ANSWERS) == pytest.approx((loss, accuracy), abs=1e-6)
