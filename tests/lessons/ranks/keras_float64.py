"""Run Keras programs of lessons 07 to 09 one after the other on the same ranks, in float64. Rank 0
of each saves its trained parameters in OUT/NUMBER.npy, in the order of `PROGRAMS`.

mpirun -np N python keras_float64.py OUT
"""

import os
import runpy
import sys
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Run

SOLUTIONS = Path(__file__).parents[3] / "solutions"
RANKS = int(os.environ["OMPI_COMM_WORLD_SIZE"])
# An epoch is one step of all images, whatever their order, and the rate is the same on all sizes.
STEPS = "--epochs 3 --batch-size 48"
NODES = "nodes.py --model cnn --size 32 --test-samples 20"
RATE = f"--lr {0.001 / RANKS}"
PROGRAMS = {
    "07_horovod": [f"{NODES} --train-samples 48 {RATE}"],
    "08_data": [f"{NODES} --folder cifar10 {RATE}", f"train.py --folder mnist {RATE}"],
    "09_learning_rate": [f"{NODES} --train-samples 48 --rule same --warmup 0"],
}
out = Path(sys.argv[1])
number = 0


look = Run.look_at_parameters


def look_and_save(run):
    params = [param.numpy() for param in run.model.trainable_variables]
    if run.rank == 0:
        assert {param.dtype for param in params} == {np.dtype("float64")}
        np.save(out / f"{number}.npy", np.concatenate([param.ravel() for param in params]))
    look(run)


Run.look_at_parameters = look_and_save
tf.keras.backend.set_floatx("float64")
os.chdir(out)
for lesson, commands in PROGRAMS.items():
    folder = str(SOLUTIONS / lesson)
    sys.path.insert(0, folder)
    for command in commands:
        sys.argv = f"{command} {STEPS}".split()
        runpy.run_path(f"{folder}/{sys.argv[0]}", run_name="__main__")
        number += 1
    sys.path.remove(folder)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
