"""Tests of the run record's Keras callback, in both versions of Keras."""

import pytest
from record_lines import events, of, run_program

from tests.breadth import breadth

PROGRAM = """
import os, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from lessons.toolkit.record import Record

keras = tf.keras
assert keras.Model.__module__.startswith(os.environ["EXPECTED"])

class SlowValidation(keras.callbacks.Callback):
    def on_test_batch_end(self, batch, logs=None):
        time.sleep(0.2)

class SlowCheckpoint(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(0.5)

x, y = np.random.rand(64, 8).astype("float32"), np.arange(64) % 10
model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
rates = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=4, decay_rate=0.5)
model.compile(keras.optimizers.SGD(rates), loss="sparse_categorical_crossentropy",
              metrics=["accuracy"], steps_per_execution=2)
record = Record("02", {"batch_size": 16, "epochs": 3}, source="keras", samples=64)
model.fit(x, y, batch_size=16, epochs=3, validation_data=(x, y), validation_batch_size=16,
          callbacks=[record.keras_callback(), SlowValidation(), SlowCheckpoint()], verbose=1)
model.evaluate(x, y, verbose=0, callbacks=[record.keras_callback()])
record.end(params=model.get_weights())
"""


UNKNOWN_LENGTH = """
data = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda x, y: True).batch(16)
assert data.cardinality() == tf.data.UNKNOWN_CARDINALITY
model.compile(keras.optimizers.SGD(0.1), loss="sparse_categorical_crossentropy")
record = Record("02", {"batch_size": 16, "epochs": 3}, source="unknown", samples=64)
model.fit(data, epochs=3, callbacks=[record.keras_callback()], verbose=0)
record.end(params=model.get_weights())
"""


PACKAGES = {"1": "tf_keras.", "0": "keras."}


@pytest.fixture(scope="module", params=breadth(PACKAGES, quick=0))
def keras(request, tmp_path_factory):
    """Return the version, the output of a program with two runs, and the events of each run."""
    legacy = request.param
    environ = {"TF_USE_LEGACY_KERAS": legacy, "EXPECTED": PACKAGES[legacy]}
    folder = tmp_path_factory.mktemp("keras")
    output = run_program(PROGRAM + UNKNOWN_LENGTH, folder=folder, **environ)
    runs = {}
    for event in events(output):
        runs.setdefault(event["metadata"]["run"], []).append(event)
    return legacy, output, *runs.values()


def test_training_alone_is_timed(keras):
    _, output, found, _ = keras
    epochs = [event["value"] for event in of(found, "epoch_stop")]
    assert len(epochs) == 3
    # From one epoch's start to the next's, validation sleeps 0.4 s and the checkpoint 0.5 s.
    starts = [event["time_ms"] / 1000 for event in of(found, "epoch_start")]
    for epoch, start, following in zip(epochs, starts, starts[1:], strict=False):
        assert 0 < epoch["seconds"] < following - start - 0.9
    assert [epoch["steps"] for epoch in epochs] == [4, 4, 4]
    assert [epoch["unique_samples"] for epoch in epochs] == [64, 64, 64]
    assert [epoch["lr"] for epoch in epochs] == pytest.approx([0.05, 0.025, 0.0125], rel=0.2)
    assert all(isinstance(epoch["loss"], float) for epoch in epochs)
    validations = of(found, "eval_accuracy")
    assert [event["metadata"]["epoch_num"] for event in validations] == [1, 2, 3]
    assert {event["metadata"]["split"] for event in validations} == {"validation"}
    for line in output.splitlines():
        assert ":::MLLOG" not in line[1:], "a progress bar stands before a line"
    assert {event["metadata"]["file"] for event in found} == {"train.py"}


def test_a_step_that_finds_no_data_is_not_counted(keras):
    legacy, *_, found = keras
    steps = 4 if legacy == "1" else None
    assert [event["value"]["steps"] for event in of(found, "epoch_stop")] == [steps] * 3
