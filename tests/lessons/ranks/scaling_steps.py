"""Run lesson 12's train.py in float64; rank 0 saves the parameters of all ranks.

mpirun -np N python scaling_steps.py KIND ARGUMENTS…

KIND is a kind of scaling, such as strong. The training ends in KIND.npz.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[3] / "solutions" / "12_scaling"))

import ranks
import train

kind, *words = sys.argv[1:]
torch.set_default_dtype(torch.float64)
load, told = train.data.load, train.Record.trained


def in_float64(*asked):
    found = load(*asked)
    x, x_test = (images.astype(np.float64) for images in (found.x_train, found.x_test))
    return SimpleNamespace(
        x_train=x, x_test=x_test, y_train=found.y_train, y_test=found.y_test, facts=found.facts
    )


def trained(record, params, gather=None):
    params = list(params)
    flat = np.concatenate([param.detach().numpy().ravel() for param in params])
    weights = np.stack(ranks.gather(flat))
    if record.rank == 0:
        assert weights.dtype == np.float64
        batch = record.header["global_batch"]
        np.savez(f"{kind}.npz", weights=weights, batch=batch, steps=record.clock.steps)
    told(record, params, gather)


train.data.load, train.Record.trained = in_float64, trained
sys.argv = ["train.py", "--scaling", kind, *words]
train.main()
