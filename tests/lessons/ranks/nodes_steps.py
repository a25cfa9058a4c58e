"""Run `nodes.py` of lessons 07 to 09 one after the other on the same ranks, in float64. Rank 0 of
each saves its trained parameters in OUT/NN.npy.

mpirun -np N python nodes_steps.py OUT
"""

import os
import runpy
import sys
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Record

SOLUTIONS = Path(__file__).parents[3] / "solutions"
RANKS = int(os.environ["OMPI_COMM_WORLD_SIZE"])
# An epoch is one step of all images, whatever their order, and the rate is the same on all sizes.
WORDS = ["--model", "cnn", "--size", "32", "--epochs", "3", "--test-samples", "20"]
WORDS += ["--batch-size", "48"]
OWN = {
    "07_horovod": ["--train-samples", "48", "--lr", str(0.001 / RANKS)],
    "08_data": ["--folder", "parts", "--lr", str(0.001 / RANKS)],
    "09_learning_rate": ["--train-samples", "48", "--rule", "same", "--warmup", "0"],
}
told = Record.trained
out = Path(sys.argv[1])


def trained(record, params, gather=None):
    params = [param.numpy() for param in params]
    if record.rank == 0:
        assert {param.dtype for param in params} == {np.dtype("float64")}
        np.save(out / f"{lesson}.npy", np.concatenate([param.ravel() for param in params]))
    told(record, params, gather)


Record.trained = trained
tf.keras.backend.set_floatx("float64")
os.chdir(out)
for lesson, own in OWN.items():
    folder = str(SOLUTIONS / lesson)
    sys.path.insert(0, folder)
    sys.argv = ["nodes.py", *WORDS, *own]
    runpy.run_path(f"{folder}/nodes.py", run_name="__main__")
    sys.path.remove(folder)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
