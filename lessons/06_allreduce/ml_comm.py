"""The calls of the CPE ML Plugin over mpi4py, with their arguments in the original order."""

import numpy as np

team = {}  # the agreement from init and config_team


def init(teams, threads, totsize, framework):
    """Begin. totsize: the number of values in all gradients together."""
    import mpi4py.MPI  # this starts MPI, so only a program that calls init is a rank

    team.update(comm=mpi4py.MPI.COMM_WORLD, totsize=totsize, step=0)


def config_team(number, first, second, max_steps, verbosity, every):
    """Set the length of the training, and how often rank 0 reports."""
    reports = verbosity > 1 and get_rank() == 0
    team.update(max_steps=max_steps, every=every if reports else 0)


def broadcast(tensors, root):
    """Return every array as it is on rank `root`."""
    return [team["comm"].bcast(tensor, root=root) for tensor in tensors]


def gradients(tensors, number):
    """Return each array's mean over all ranks; all arrays travel as one flat message."""
    flat = np.concatenate([tensor.ravel() for tensor in tensors])
    total = np.empty(team["totsize"], flat.dtype)
    team["comm"].Allreduce(flat, total)
    team["step"] += 1
    if team["every"] and team["step"] % team["every"] == 0:
        print(f"step {team['step']} of {team['max_steps']}")
    ends = np.cumsum([tensor.size for tensor in tensors])
    pieces = np.split(total / get_nranks(), ends[:-1])
    return [piece.reshape(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True)]


def get_rank():
    return team["comm"].Get_rank()


def get_nranks():
    return team["comm"].Get_size()


def finalize():
    """Wait for all ranks, and forget the team. MPI itself ends with the program."""
    team["comm"].Barrier()
    team.clear()
