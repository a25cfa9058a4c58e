"""Checkpoint files that are either whole or not there, and the same one for all ranks."""

import os
from pathlib import Path

import torch
import torch.distributed as dist


def path_of(folder, step):
    return Path(folder) / f"step_{step:06}.pt"


def files_in(folder):
    """Return the checkpoints in a folder, oldest first."""
    return sorted(Path(folder).glob("step_*.pt"))


def write(state, path):
    """Write a state to the file `path`, so that a kill at any moment leaves no half file there."""
    ### BEGIN SOLUTION Exercise 15.2: the colleague's lines, two of them repaired
    beside = Path(path).with_suffix(".writing")
    with open(beside, "wb") as file:
        torch.save(state, file)
        os.fsync(file.fileno())
    os.replace(beside, path)
    ### END SOLUTION


def newest(folder):
    """Return the state in the newest checkpoint that can be read; None if there is none."""
    for path in reversed(files_in(folder)):
        try:
            return torch.load(path, map_location="cpu")
        except Exception as error:  # torch.load raises whatever the damaged bytes lead to
            print(f"{path.name} cannot be read ({type(error).__name__}): the one before is used")
    return None


def agreed(folder):
    """Return the state in the newest checkpoint that rank 0 can read, on all ranks, or None."""
    ### BEGIN SOLUTION Exercise 15.3: what rank 0 can read, on all ranks
    saved = newest(folder) if dist.get_rank() == 0 else None
    chosen = [saved["step"] if saved else None]
    dist.broadcast_object_list(chosen)
    if dist.get_rank() > 0 and chosen[0] is not None:
        saved = torch.load(path_of(folder, chosen[0]), map_location="cpu")
    return saved
    ### END SOLUTION


def save(state, folder, step, keep=2):
    """Write the checkpoint of a step, then delete all but the last `keep`."""
    write(state, path_of(folder, step))
    for old in files_in(folder)[:-keep]:
        old.unlink()
