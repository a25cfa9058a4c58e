"""The calls of the CPE ML Plugin, over mpi4py, with the arguments in their original order.

import ml_comm as mc
"""

import numpy as np

team = {}  # what init and config_team agreed on


def init(teams, threads, totsize, framework):
    """totsize: how many numbers all gradients have together."""
    from mpi4py import (
        MPI,
    )  # importing it starts MPI: only a program that calls init is a rank

    team.update(comm=MPI.COMM_WORLD, totsize=totsize, step=0)


def config_team(number, first, second, max_steps, verbosity, every):
    team.update(max_steps=max_steps, every=every if verbosity > 1 and get_rank() == 0 else 0)


def broadcast(tensors, root):
    """Every array as it is on rank `root`."""
    return [team["comm"].bcast(tensor, root=root) for tensor in tensors]


def gradients(tensors, number):
    """The mean of every array over all ranks: one flat message, summed, divided by the size."""
    flat = np.concatenate([tensor.ravel() for tensor in tensors])
    if flat.size != team["totsize"]:
        raise ValueError(f"init announced {team['totsize']} numbers, gradients has {flat.size}")
    total = np.empty_like(flat)
    team["comm"].Allreduce(flat, total)
    total /= get_nranks()
    team["step"] += 1
    if team["every"] and team["step"] % team["every"] == 0:
        print(f"step {team['step']} of {team['max_steps']}")
    pieces = np.split(total, np.cumsum([tensor.size for tensor in tensors])[:-1])
    return [piece.reshape(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True)]


def get_rank():
    return team["comm"].Get_rank()


def get_nranks():
    return team["comm"].Get_size()


def finalize():
    """Wait for all; MPI itself ends with the program."""
    team["comm"].Barrier()
    team.clear()
