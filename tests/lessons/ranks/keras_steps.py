"""Train ten steps of lesson 02's Keras network on this rank's part of each global batch.

    mpirun -np N python keras_steps.py out.npz       (N = 1 is the serial reference)

Every rank starts from a seed of its own: only the broadcast makes the starts alike.
"""

import os
import sys
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "02_serial"))

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from horovod.tensorflow import broadcast_variables

from train import build_model

hvd.init()
rank, size = hvd.rank(), hvd.size()
keras = tf.keras
keras.utils.set_random_seed(rank)  # rank 0 alike in every run, the others not

model = build_model("mlp512")
optimizer = hvd.DistributedOptimizer(keras.optimizers.SGD(0.1, momentum=0.9))
model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy")
broadcast_variables(model.variables, root_rank=0)

rng = np.random.default_rng(7)
for _ in range(10):
    x = rng.random((24, 28, 28), dtype=np.float32)  # 24 samples: for 1, 2 or 3 ranks
    y = rng.integers(0, 10, 24)
    model.train_on_batch(x[rank::size], y[rank::size])

weights = np.concatenate([w.ravel() for w in model.get_weights()])
everyone = hvd.allgather(weights[np.newaxis]).numpy()
if rank == 0:
    np.savez(sys.argv[1], weights=everyone)
