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
    return {
        "network": training.network.state_dict(),
        "optimizer": training.optimizer.state_dict(),
        "schedule": training.schedule.state_dict(),
        "sampler": training.sampler.state(),
        "random": torch.get_rng_state(),
    }


def restore(training, saved):
    """Put a state that `capture` returned into freshly built objects."""
    training.network.load_state_dict(saved["network"])
    training.optimizer.load_state_dict(saved["optimizer"])
    training.schedule.load_state_dict(saved["schedule"])
    training.sampler.load(saved["sampler"])
    torch.set_rng_state(saved["random"])
