"""Tests of lesson 03's network and images, as lessons 07 to 09 use them."""

import os

import pytest

from lessons.toolkit import photographs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tf():
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow

    return tensorflow


def test_on_more_ranks_running_means_forget_as_much_in_fewer_steps(tf):
    model = photographs.network(tf.keras, "ResNet50V2", 32, ranks=4)
    assert model.count_params() == 23_585_290
    kept = [layer.momentum for layer in model.layers if hasattr(layer, "moving_mean")]
    assert kept == pytest.approx([0.99**4] * 49)
