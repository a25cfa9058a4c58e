"""Tests of lesson 05's program: N replicas train like one; each mistake gets a sentence."""

import subprocess
import sys

import pytest
from real_runs import ROOT, run_together

LESSON = ROOT / "solutions" / "05_mirrored"


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


# The numbers of the page: what layers keep and make for an image, in millions and MB.
COUNTED = """
import math
layers = tf.keras.layers
shape = (128, 128, 3)
network = tf.keras.applications.ResNet50V2(weights=None, input_shape=shape, classes=10)
kept = [math.prod(layer.input_shape[1:]) for layer in network.layers
        if isinstance(layer, (layers.Conv2D, layers.BatchNormalization))]
made = [math.prod(layer.output.shape[1:]) for layer in network.layers]
print(f"{sum(kept) / 1e6:.1f} {4 * sum(kept) / 1e6:.0f} {4 * sum(made) / 1e6:.0f}",
      f"{2 * (sum(kept) + sum(made)) / 1e6:.0f}")
"""


def printed(program, *words):
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.slow
def test_three_replicas_equal_one_and_the_memory_of_an_image_is_what_its_shapes_add_up_to():
    """Both in one process, because TensorFlow takes long to load."""
    *_, counted = printed(EQUAL + COUNTED, "3")
    millions, kept, made, middle = counted.split()
    page = (LESSON / "lesson.py").read_text(encoding="utf-8").replace("\n# ", " ")
    assert f"{millions} million such numbers per image, which is {kept} MB" in page
    assert f"outputs of all layers would be {made} MB" in page
    assert f"(memory − 2 GB) / {middle} MB" in page
    assert f"* 1e9 / {middle}e6" in page


@pytest.mark.slow
def test_mistakes_end_with_one_sentence(tmp_path):
    mistakes = {
        "--n-gpus 0": "--n-gpus 0 cannot be had: this job sees 2",
        "--n-gpus 2 --model ResNet50V2 --size 16": "Input size must be at least 32x32",
    }
    starts = [(tmp_path, LESSON / "train.py", words.split()) for words in mistakes]
    for said, sentence in zip(run_together(1, starts), mistakes.values(), strict=True):
        assert sentence in said
