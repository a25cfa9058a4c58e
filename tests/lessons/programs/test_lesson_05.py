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
    copies = [[copy.numpy() for copy in strategy.experimental_local_results(variable)]
              for variable in model.variables]
    assert {{len(each) for each in copies}} == {{n}}
    assert max(np.ptp(each, axis=0).max() for each in copies) == 0
    found[n] = model.get_weights()
    moved = max(abs(a - b).max() for a, b in zip(start, found[n]))
    away = max(abs(a - b).max() for a, b in zip(found[1], found[n]))
    print(n, "replicas moved by", moved, "and are away from one by", away)
    assert away <= 1e-6 < 1e-3 < moved
"""


@pytest.mark.slow
def test_three_replicas_equal_one():
    done = subprocess.run(
        [sys.executable, "-c", EQUAL, "3"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]


@pytest.mark.slow
def test_mistakes_end_with_one_sentence(tmp_path):
    mistakes = {
        "--n-gpus 0": "--n-gpus 0 cannot be had: this job sees 2",
        "--n-gpus 2 --model ResNet50V2 --size 16": "Input size must be at least 32x32",
    }
    starts = [(tmp_path, LESSON / "train.py", words.split()) for words in mistakes]
    for said, sentence in zip(run_together(1, starts), mistakes.values(), strict=True):
        assert sentence in said
