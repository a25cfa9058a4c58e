"""Run an unchanged Keras program in float64; rank 0 saves its trained parameters.

mpirun -np N python in_float64.py OUT.npy PROGRAM ARGUMENTS…
"""

import os
import runpy
import sys
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

from lessons.toolkit.record import Run

out, program, *words = sys.argv[1:]
tf.keras.backend.set_floatx("float64")
look = Run.look_at_parameters


def look_and_save(run):
    look(run)
    params = [param.numpy() for param in getattr(run.model, "trainable_variables", ())]
    if run.rank == 0:
        assert {param.dtype for param in params} == {np.dtype("float64")}
        np.save(out, np.concatenate([param.ravel() for param in params]))


Run.look_at_parameters = look_and_save
sys.argv = [program, *words]
sys.path[0] = str(Path(program).parent)
runpy.run_path(program, run_name="__main__")
