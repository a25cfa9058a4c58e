"""Tests of predictions against the data set's own labels."""

import numpy as np
import pytest

from lessons.toolkit.data import score

LABELS = np.array([2, 0, 1, 1])
RIGHT = np.eye(3)[LABELS]


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
    assert score(rows.astype(np.float32), LABELS) == pytest.approx((loss, accuracy), abs=1e-6)
