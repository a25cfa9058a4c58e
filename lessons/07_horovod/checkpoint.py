"""Continue from a checkpoint as if the run had never stopped, with Keras or PyTorch.

That takes the parameters, the optimizer's state, the number of epochs done, and the seed from which
each epoch's order is drawn. Rank 0 writes and reads; what it finds there has to reach all ranks.
"""

import os

import h5py

from lessons.toolkit.ranks.leaving import leave
from lessons.toolkit.record import param_hash


def finish(new, path, **facts):
    """Replace the old file atomically, so that a job killed here loses neither."""
    if facts:  # what Keras did not write: it knows only parameters and optimizer
        with h5py.File(new, "a") as file:
            file.attrs.update(facts)
    os.replace(new, path)


def read(path, load, hvd, broadcast_object):
    """Return the file's content on all ranks, or end all ranks; rank 0 says why."""
    found, problem = None, None
    if hvd.rank() == 0:
        try:
            found = load(path)
            if path.endswith(".h5"):
                with h5py.File(path) as file:
                    found = {name: int(file.attrs[name]) for name in ("epochs", "seed", "ranks")}
            if found["ranks"] != hvd.size():
                problem = f"was written by {found['ranks']} ranks, not {hvd.size()}: start as many"
        except FileNotFoundError:
            problem = "is not there: run once without --resume"
        except Exception as error:
            problem = f"is damaged ({type(error).__name__}): delete it, run without --resume"
    found, problem = broadcast_object((found, problem), root_rank=0)
    if problem:
        leave(hvd.rank(), f"The checkpoint {path} {problem}.")
    return found


def params_in(path, model, hvd):
    """Return the hash of the parameters in Keras' file as rank 0 reads them; None if it cannot."""
    try:
        if hvd.rank() == 0:
            model.load_weights(path)
            return param_hash(model.trainable_variables)
    except Exception:  # each kind of damage raises a different error
        pass
