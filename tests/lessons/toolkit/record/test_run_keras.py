"""Tests of a Run's Keras callback, in both versions of Keras."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from record_lines import events, facts, of, run_program

from lessons.toolkit.record import run_record
from lessons.toolkit.record.keras_callback import RunMethods
from tests.breadth import breadth

PROGRAM = """
import os, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from lessons.toolkit.record import Run

keras = tf.keras
assert keras.Model.__module__.startswith(os.environ["EXPECTED"])

class SlowValidation(keras.callbacks.Callback):
    def on_test_batch_end(self, batch, logs=None):
        time.sleep(0.2)

class SlowCheckpoint(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(0.5)

x, y = np.random.rand(64, 8).astype("float32"), np.arange(64) % 10
model = keras.Sequential([keras.layers.Dense(10, activation="softmax", input_shape=(8,))])
rates = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=4, decay_rate=0.5)
model.compile(keras.optimizers.SGD(rates), loss="sparse_categorical_crossentropy",
              metrics=["accuracy"], steps_per_execution=2)
asked = {"batch_size": 16, "epochs": 3}
facts = {"dataset": {"name": "noise", "sha256": None, "synthetic": True,
                     "train_samples": 64, "test_samples": 0}}
run = Run("02", asked, model, shard=(0, 32, 1), labels=range(10), **facts)
model.fit(x, y, batch_size=16, epochs=3, validation_data=(x, y), validation_batch_size=16,
          callbacks=[run.keras(), SlowValidation(), SlowCheckpoint()], verbose=1)
model.evaluate(x, y, verbose=0, callbacks=[run.keras()])
run.end()
"""


UNKNOWN_LENGTH = """
data = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda x, y: True).batch(16)
assert data.cardinality() == tf.data.UNKNOWN_CARDINALITY
model.compile(keras.optimizers.SGD(0.1), loss="sparse_categorical_crossentropy")
run = Run("03", asked, model, "unknown", lr=0.7, **facts)
model.fit(data, epochs=3, callbacks=[run.keras()], verbose=0)
run.end()
"""

# The second network is outside of the scope, so it has no copies.
REPLICAS = """
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
[cpu] = tf.config.list_physical_devices("CPU")
one = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(cpu, [one, one])
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

def build():
    found = keras.Sequential([keras.layers.Flatten(input_shape=(4, 4, 1)), keras.layers.Dense(2)])
    found.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=False)
    return found

with strategy.scope():
    models = [build()]
models.append(build())
for model in models:
    run = Run("05", {"batch_size": 2}, model, replicas_asked=2, global_batch=4, **facts)
    model.fit(np.ones((64, 4, 4, 1)), np.ones((64, 2)), batch_size=4, verbose=0,
              callbacks=[run.keras()])
    run.end()
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
    assert [epoch["unique_samples"] for epoch in epochs] == [32, 32, 32], "no more than its share"
    assert [epoch["lr"] for epoch in epochs] == pytest.approx([0.05, 0.025, 0.0125], rel=0.2)
    assert all(isinstance(epoch["loss"], float) for epoch in epochs)
    validations = of(found, "eval_accuracy")
    assert [event["metadata"]["epoch_num"] for event in validations] == [1, 2, 3]
    for line in output.splitlines():
        assert ":::MLLOG" not in line[1:], "a progress bar stands before a line"


def test_a_step_that_finds_no_data_is_not_counted(keras):
    legacy, *_, found = keras
    steps = 4 if legacy == "1" else None
    assert [event["value"]["steps"] for event in of(found, "epoch_stop")] == [steps] * 3


def test_facts_of_the_network_and_of_the_share(keras):
    *_, found, unknown = keras
    [rank], [end] = ([event["value"] for event in of(found, key)] for key in ("rank", "rank_end"))
    assert (rank["samples"], rank["slices"], rank["labels"]) == (32, [[0, 32, 1]], [1] * 10)
    assert len({rank["built_hash"], end["start_hash"], end["param_hash"]}) == 2
    header = facts(found)
    assert (header["optimizer"], header["source"], header["params"]) == ("sgd", "keras", 90)
    measures = [event["value"] for event in of(found, "measure")]
    assert [(each["name"], each.get("kind")) for each in measures] == [
        ("layers", "Dense"), ("bend", None)
    ]  # fmt: skip
    assert facts(unknown)["lr"] == 0.7, "the program's own fact counts"
    assert {event["value"]["name"] for event in of(unknown, "measure")} == {"layers"}


class Number(float):
    def numpy(self):
        return float(self)


@pytest.mark.parametrize(
    ("asked", "begun", "steps"),
    [({"steps": 9}, 4, 4), ({"steps": 9}, 0, 9), ({"steps": None}, 4, None)],
)
def test_without_keras_2s_counter_the_optimizers_steps_count(asked, begun, steps):
    methods = run_record.KerasMethods()
    optimizer = SimpleNamespace(iterations=Number(20), learning_rate=0.1)
    methods.run, methods.params = MagicMock(epochs=0), asked
    methods.model = SimpleNamespace(optimizer=optimizer)
    methods.on_epoch_begin(0)
    optimizer.iterations = Number(20 + begun)
    methods.on_epoch_end(0)
    assert methods.run.log.call_args_list[0].kwargs["steps"] == steps


def test_replicas_without_images_have_no_busiest_one():
    methods = RunMethods()
    count = SimpleNamespace(values=(Number(0), Number(0)))
    optimizer = SimpleNamespace(iterations=Number(0), learning_rate=0.1)
    methods.run, methods.params = MagicMock(), None
    methods.model = SimpleNamespace(optimizer=optimizer, metrics=[SimpleNamespace(count=count)])
    methods.on_epoch_end(0)
    assert not methods.run.measure.called


@pytest.mark.slow
def test_replicas_are_counted_from_the_copies_of_the_variables(tmp_path):
    begin = PROGRAM[: PROGRAM.index("class SlowValidation")]
    more = PROGRAM[PROGRAM.index("facts =") : PROGRAM.index("run = Run")]
    environ = {"TF_USE_LEGACY_KERAS": "1", "EXPECTED": PACKAGES["1"]}
    output = run_program(begin + more + REPLICAS, folder=tmp_path, **environ)
    runs = {}
    for event in events(output):
        runs.setdefault(event["metadata"]["run"], []).append(event)
    both, alone = runs.values()
    for found, replicas, spread in ((both, 2, 0.0), (alone, 1, 0.0)):
        header = facts(found)
        assert (header["replicas"], header["replicas_asked"]) == (replicas, 2)
        assert (header["global_batch"], header["scaling"], header["image_size"]) == (4, "epoch", 4)
        [epoch] = (event["value"] for event in of(found, "epoch_stop"))
        assert (epoch["steps"], epoch["unique_samples"]) == (16, 64)
        [stop] = (event["value"] for event in of(found, "run_stop"))
        assert stop["param_spread"] == spread
    busy = [event["value"] for event in of(both, "measure") if "busy" in event["value"]["name"]]
    assert [each["value"] for each in busy] == [1.0]
