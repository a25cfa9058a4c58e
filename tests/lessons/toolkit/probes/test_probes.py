"""Tests of the error of sums that a student's exchange has computed."""

import math

import numpy as np
import pytest

from lessons.toolkit.probes.collectives import largest_error


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ([[1.0, 2.0], [4.0]], 0.0),
        ([[1.0, 2.5], [4.0]], 0.125),
        ([[1.0, math.nan], [4.0]], math.inf),
        ([[1.0, 2.0], [math.nan]], math.inf),
        ([[1.0, 2.0]], math.inf),
        ([[1.0], [4.0]], math.inf),
        ([["one", 2.0], [4.0]], math.inf),
        (None, math.inf),
        (7, math.inf),
    ],
)
def test_the_largest_error_is_a_share_of_the_largest_number(found, error):
    assert largest_error(found, [np.array([1.0, 2.0]), np.array([4.0])]) == error
