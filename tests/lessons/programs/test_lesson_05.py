"""Tests of lesson 05's program: N replicas train like one; each mistake gets a sentence."""

import os
import subprocess
import sys

import pytest
from real_runs import ROOT

LESSON = ROOT / "solutions" / "05_mirrored"
SIZES = ["--model", "cnn", "--size", "32", "--train-samples", "2048", "--test-samples", "64"]


# After three steps on the same batches, parameters of n replicas against those of one. One n in
# a process: TensorFlow's collectives take a group of one size only.
EQUAL = f"""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import sys
sys.path.insert(0, {str(LESSON)!r})
import numpy as np
import train
tf, keras = train.tf, train.keras

images = np.random.default_rng(5).integers(0, 256, (36, 32, 32, 3), np.uint8)
labels = np.arange(36) % 10
several = int(sys.argv[1])
names = train.devices(several)
found = {{}}
for n in (1, several):
    strategy = tf.distribute.MirroredStrategy(names[:n])
    keras.utils.set_random_seed(1)
    batch, lr = train.for_all(12 // n, 0.06 / n, n)
    data = train.prepare(tf.data.Dataset.from_tensor_slices((images, labels)), 32, batch)
    model = train.build_mirrored(strategy, "cnn", 32, lr)
    start = model.get_weights()
    model.fit(data, verbose=0)
    copies = [train.copies(strategy, variable) for variable in model.variables]
    assert {{len(each) for each in copies}} == {{n}}
    assert max(np.ptp(each, axis=0).max() for each in copies) == 0
    found[n] = model.get_weights()
    moved = max(abs(a - b).max() for a, b in zip(start, found[n]))
    away = max(abs(a - b).max() for a, b in zip(found[1], found[n]))
    print(n, "replicas moved by", moved, "and are away from one by", away)
    assert away <= 1e-6 < 1e-3 < moved
"""


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [2, 3])
def test_replicas_equal_one_replica_on_the_whole_batch(replicas):
    done = subprocess.run(
        [sys.executable, "-c", EQUAL, str(replicas)],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_gpus", "words", "sentence"),
    [
        (0, [], "--n-gpus 0 cannot be had: this job sees 2"),
        (2, ["--model", "ResNet50V2", "--size", "16"], "Input size must be at least 32x32"),
    ],
)
def test_mistakes_end_with_one_sentence(n_gpus, words, sentence, tmp_path):
    done = subprocess.run(
        [sys.executable, LESSON / "train.py", "--n-gpus", str(n_gpus), *SIZES, *words],
        cwd=tmp_path, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


COUNTED = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import math
import tensorflow as tf
layers = tf.keras.layers
shape = (128, 128, 3)
network = tf.keras.applications.ResNet50V2(weights=None, input_shape=shape, classes=10)
kept = [math.prod(layer.input_shape[1:]) for layer in network.layers
        if isinstance(layer, (layers.Conv2D, layers.BatchNormalization))]
made = [math.prod(layer.output.shape[1:]) for layer in network.layers]
print(f"{sum(kept) / 1e6:.1f} {4 * sum(kept) / 1e6:.0f} {4 * sum(made) / 1e6:.0f}",
      f"{2 * (sum(kept) + sum(made)) / 1e6:.0f}")
"""


@pytest.mark.slow
def test_the_memory_of_an_image_is_what_the_shapes_add_up_to():
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, timeout=300
    )
    millions, kept, made, middle = done.stdout.split()
    page = (LESSON / "lesson.py").read_text(encoding="utf-8").replace("\n# ", " ")
    assert f"{millions} million such numbers per image, which is {kept} MB" in page
    assert f"outputs of all layers would be {made} MB" in page
    assert f"(memory − 2 GB) / {middle} MB" in page
    assert f"* 1e9 / {middle}e6" in page
