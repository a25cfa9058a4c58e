"""Tests of TensorFlow with a wrong TF_CONFIG, and with a data set that is not distributed."""

import json
import subprocess
import sys

import pytest
from real_runs import environment, launch, meet

ADDRESSES = ["127.0.0.1:23456", "127.0.0.1:23457"]
CLUSTER = {"worker": ADDRESSES}
STRATEGIES = """
import os, sys
import tensorflow as tf
for os.environ["TF_CONFIG"] in sys.argv[1:]:
    try:
        print(tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync, "alone")
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
"""
WRONG = [  # TF_CONFIG, and what follows
    ({"cluster": CLUSTER, "tasks": {"type": "worker", "index": 0}}, "must also specify"),
    ({"cluster": CLUSTER, "task": {"type": "worker", "index": 2}}, "exceeds the maximum id"),
    ({"cluster": {}, "task": {"type": "worker", "index": 0}}, "1 alone"),
    ({"cluster": {}, "task": {"type": "worker", "index": 1}}, "1 alone"),
]


@pytest.mark.slow
def test_a_wrong_tf_config_ends_as_the_page_says():
    done = subprocess.run(
        [sys.executable, "-c", STRATEGIES, *(json.dumps(config) for config, _ in WRONG)],
        env=environment(TF_USE_LEGACY_KERAS="1"),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for line, (config, words) in zip(done.stdout.splitlines(), WRONG, strict=True):
        assert words in line, config


SHARDED = """
import json, os
rank, port = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["MASTER_PORT"])
workers = [f"127.0.0.1:{port + worker}" for worker in range(2)]
task = {"type": "worker", "index": rank}
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": task})
import numpy as np
import tensorflow as tf

class Counting(tf.keras.Sequential):
    def train_step(self, data):
        tf.print(tf.shape(data[0])[0], output_stream=f"file://{kind}_{rank}")
        return super().train_step(data)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
own = np.ones((32, 1), "float32")
data = tf.data.Dataset.from_tensor_slices((own, own)).batch(8)
of_function = strategy.distribute_datasets_from_function(lambda _: data)
for kind, batches in {"own": data, "of_function": of_function}.items():
    with strategy.scope():
        model = Counting([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(batches, steps_per_epoch=4, verbose=0)
"""


@pytest.mark.slow
@pytest.mark.ranks
def test_fit_shards_a_workers_own_images_once_more(tmp_path):
    done = subprocess.run(
        [*launch(2, "mpirun"), sys.executable, "-c", SHARDED],
        env=environment(**meet(), TF_USE_LEGACY_KERAS="1"),
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for kind, images in {"own": 4, "of_function": 8}.items():
        for rank in (0, 1):
            assert (tmp_path / f"{kind}_{rank}").read_text().split("\n")[:4] == [str(images)] * 4
