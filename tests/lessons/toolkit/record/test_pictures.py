"""Tests of what the record measures of a student's pipeline, at its end."""

import numpy as np
import pytest

from lessons.toolkit.data import resized
from lessons.toolkit.record.pictures import labels_right, pixels_away

rng = np.random.default_rng(3)
SET = rng.integers(0, 256, (20, 8, 8, 3), np.uint8)
NUMBERS = np.array([7, 3, 11, 0])
RIGHT = SET[NUMBERS] / np.float32(255)
HONEST = 0.04  # what the rubrics allow


@pytest.mark.parametrize("size", [8, 12, 32])
def test_the_right_images_are_not_away_whatever_their_size(size):
    assert pixels_away(resized(RIGHT, size), NUMBERS, SET) < 1e-6


@pytest.mark.parametrize(
    "images",
    [
        SET[NUMBERS],  # not divided
        RIGHT / 255,  # divided twice
        np.zeros_like(RIGHT),
        np.broadcast_to(RIGHT[:1], RIGHT.shape),
        RIGHT[::-1],
        SET[:4] / np.float32(255),
        RIGHT[:, :4],  # cut off
        RIGHT[:3],  # one is missing
        RIGHT[..., 0],
    ],
)
def test_other_images_are_away(images):
    assert pixels_away(images, NUMBERS, SET) > HONEST


@pytest.mark.parametrize("numbers", [[], [-1, 20, 2**40, 5]])
def test_numbers_of_no_image_are_away_and_no_error(numbers):
    assert pixels_away(RIGHT[: len(numbers)], np.array(numbers), SET) > HONEST
    assert labels_right(np.zeros(len(numbers)), np.array(numbers), np.ones(20)) == 0


def test_labels_are_compared_with_those_of_the_numbers():
    labels = np.arange(20) % 10
    assert labels_right(labels[NUMBERS], NUMBERS, labels) == 1
    assert labels_right([7, 3, 2, 2], NUMBERS, labels) == 0.5
    assert labels_right([7, 3], NUMBERS, labels) == 0
