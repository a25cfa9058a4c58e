"""Everything that the next step depends on, as one dictionary, and the way back."""

from typing import Any, NamedTuple

import torch


class Training(NamedTuple):
    """The objects that change from step to step. Each but `sampler` is PyTorch's own."""

    network: Any
    optimizer: Any
    schedule: Any
    sampler: Any


def capture(training):
    """Return the state of the training."""
    raise NotImplementedError(
        "Exercise 15.1: state_dict() of three objects, sampler.state(), random state"
    )


def restore(training, saved):
    """Put a state that `capture` returned into freshly built objects."""
    raise NotImplementedError("Exercise 15.1: load_state_dict, sampler.load, torch.set_rng_state")
