"""Tests of TensorFlow with a wrong TF_CONFIG, and with a data set that is not distributed."""

import json
import subprocess
import sys

import pytest
from real_runs import environment, meet

ADDRESSES = ["127.0.0.1:23456", "127.0.0.1:23457"]
CLUSTER = {"worker": ADDRESSES}
STRATEGY = """
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
print(strategy.num_replicas_in_sync, "alone")
"""
WRONG = [  # TF_CONFIG, the exit code, words of what is printed
    ({"cluster": CLUSTER, "tasks": {"type": "worker", "index": 0}}, 1, "must also specify"),
    ({"cluster": CLUSTER, "task": {"type": "worker", "index": 2}}, 1, "exceeds the maximum id"),
    ({"cluster": {}, "task": {"type": "worker", "index": 0}}, 0, "1 alone"),
    ({"cluster": {}, "task": {"type": "worker", "index": 1}}, 0, "1 alone"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("config", "code", "words"), WRONG)
def test_a_wrong_tf_config_ends_as_the_page_says(config, code, words):
    done = subprocess.run(
        [sys.executable, "-c", STRATEGY],
        env=environment(TF_CONFIG=json.dumps(config), TF_USE_LEGACY_KERAS="1"),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == code
    assert words in done.stdout + done.stderr


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
        tf.print("batch", tf.shape(data[0])[0], output_stream="file://batches_of_" + str(rank))
        return super().train_step(data)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = Counting([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
own = np.ones((32, 1), "float32")
data = tf.data.Dataset.from_tensor_slices((own, own)).batch(8)
if os.environ["DISTRIBUTED"]:
    whole = data
    data = strategy.distribute_datasets_from_function(lambda _: whole)
model.fit(data, steps_per_epoch=4, verbose=0)
"""


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(("distributed", "images"), [("yes", 8), ("", 4)])
def test_fit_shards_a_workers_own_images_once_more(distributed, images, tmp_path):
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
    done = subprocess.run(
        [*mpirun, sys.executable, "-c", SHARDED],
        env=environment(**meet(), DISTRIBUTED=distributed, TF_USE_LEGACY_KERAS="1"),
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for rank in (0, 1):
        assert (tmp_path / f"batches_of_{rank}").read_text().split("\n")[:4] == [
            f"batch {images}"
        ] * 4
