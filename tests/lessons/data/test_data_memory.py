"""Training at 128 by 128 stays small, because no float copy of the data set is ever made."""

import pytest

from benchmarks.data_memory import measure


@pytest.mark.slow
@pytest.mark.parametrize("way", ["tf.data", "batches"])
def test_training_at_128_stays_below_2_gb(way, tmp_path, monkeypatch):
    # The stand-in has the real set's size, so this holds on a machine without the files too.
    monkeypatch.setenv("COURSE_STAND_IN", "1")
    found = measure(way, "ResNet50V2", batch=16, size=128, steps=3)
    assert found["samples"] == 50_000
    assert found["peak_mb"] < 2000
