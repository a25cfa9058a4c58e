"""Tests of what the record measures of a student's pipeline, at its end."""

import numpy as np
import pytest
from record_lines import events, of, run_program

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


PROGRAM = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from lessons.toolkit.record import Record

keras = tf.keras
rng = np.random.default_rng(1)
images, labels = rng.integers(0, 256, (64, 4, 4, 3), np.uint8), np.arange(64) % 10

def run(prepare, trainable):
    batches = prepare(tf.data.Dataset.from_tensor_slices((images, tf.range(64))).shuffle(64))
    body = keras.Sequential([keras.layers.Conv2D(4, 3), keras.layers.ReLU()])
    model = keras.Sequential([body, keras.layers.Flatten(), keras.layers.Dense(10, "softmax")])
    model.build((None, 4, 4, 3))
    body.trainable = trainable
    model.compile(keras.optimizers.SGD(0.5), loss="sparse_categorical_crossentropy")
    record = Record("03", {"batch_size": 16, "epochs": 2, "lr": 0.5}, source="keras", samples=64)
    train = record.labelled(batches, images, labels)
    model.fit(train, epochs=2, callbacks=[record.keras_callback()], verbose=0)
    record.end()

run(lambda data: data.batch(16).map(lambda x, y: (tf.cast(x, tf.float32) / 255, y)), True)
run(lambda data: data.batch(16).map(lambda x, y: (tf.cast(x, tf.float32) / 255, y * 0)), False)
"""


@pytest.mark.slow
def test_the_callback_counts_what_went_into_training(tmp_path):
    found = events(run_program(PROGRAM, folder=tmp_path, TF_USE_LEGACY_KERAS="1"))
    runs = {}
    for event in found:
        runs.setdefault(event["metadata"]["run"], []).append(event)
    right, zeros = runs.values()
    # Whether all is trained, and what an epoch read (distinct, most).
    counts_what_went_in(right, True, (64, 1))
    counts_what_went_in(zeros, False, (1, 64))


def counts_what_went_in(found, trainable, read):
    epochs = [event["value"] for event in of(found, "epoch_stop")]
    assert [(e["read"]["distinct"], e["read"]["most"]) for e in epochs] == [read] * 2
    assert [(e["read"]["total"], e["steps"], e["unique_samples"]) for e in epochs] == [
        (64, 4, read[0])
    ] * 2
    measures = [event["value"] for event in of(found, "measure")]
    layers = {m["kind"]: m["value"] for m in measures if m["name"] == "layers"}
    assert layers == {"Conv2D": 1, "Dense": 1}
    away = max(m["value"] for m in measures if m["name"] == "pixels_away")
    assert (away <= HONEST) == (read == (64, 1))
    [end] = of(found, "run_stop")
    head = 2 * 2 * 4 * 10 + 10
    changed = end["value"]["params_changed"]
    assert changed > head if trainable else 10 <= changed <= head
