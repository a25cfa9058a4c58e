"""Tests of lesson 03's network and images, as lessons 07 to 09 use them."""

import os

import numpy as np
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


def test_bytes_and_numbers_give_the_same_pictures_and_what_is_behind_them_stays(tf):
    pictures = np.random.default_rng(1).integers(0, 256, (6, 32, 32, 3)).astype(np.uint8)
    labels, weights = np.arange(6), np.linspace(0, 1, 6)

    def prepared(*columns):
        batches = tf.data.Dataset.from_tensor_slices(columns).batch(4)
        return list(photographs.prepare(tf, batches, 40).as_numpy_iterator())

    of_bytes = prepared(pictures, labels)
    of_numbers = prepared(pictures.astype(np.float32) / 255, labels, weights)
    assert [len(batch) for batch in of_numbers] == [3, 3]
    for (one, ids), (other, also, more) in zip(of_bytes, of_numbers, strict=True):
        assert one.shape[1:] == (40, 40, 3)
        np.testing.assert_allclose(one, other, atol=1e-6)
        assert list(ids) == list(also)
        np.testing.assert_array_equal(more, weights[ids])
