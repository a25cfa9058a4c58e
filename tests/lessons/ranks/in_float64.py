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

from lessons.toolkit.record import Record

out, program, *words = sys.argv[1:]
tf.keras.backend.set_floatx("float64")
told = Record.trained


def trained(record, params, gather=None):
    params = [param.numpy() for param in params]
    if record.rank == 0:
        assert {param.dtype for param in params} == {np.dtype("float64")}
        np.save(out, np.concatenate([param.ravel() for param in params]))
    told(record, params, gather)


Record.trained = trained
sys.argv = [program, *words]
sys.path[0] = str(Path(program).parent)
runpy.run_path(program, run_name="__main__")
