"""A checkpoint that all ranks write and that any number of ranks can read."""

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict


def save(model, optimizer, folder):
    """Write the parts that each rank holds. All ranks must call this."""
    ### BEGIN SOLUTION Exercise 13.9: get_state_dict, then dcp.save of both under two names
    parameters, state = get_state_dict(model, optimizer)
    dcp.save({"model": parameters, "optimizer": state}, checkpoint_id=folder)
    ### END SOLUTION


def load(model, optimizer, folder):
    """Read the parts that each rank needs, no matter which rank wrote them."""
    ### BEGIN SOLUTION Exercise 13.9: get_state_dict, dcp.load into it, set_state_dict
    parameters, state = get_state_dict(model, optimizer)
    dcp.load({"model": parameters, "optimizer": state}, checkpoint_id=folder)
    set_state_dict(
        model,
        optimizer,
        model_state_dict=parameters,
        optim_state_dict=state,
    )
    ### END SOLUTION
