# The calls of the CPE ML Plugin, over mpi4py, with the arguments in their original order.
import numpy as np

team = {}  # what init and config_team agreed on


def init(teams, threads, totsize, framework):  # totsize: numbers of all gradients together
    import mpi4py.MPI  # this starts MPI: only a program that calls init is a rank

    team.update(comm=mpi4py.MPI.COMM_WORLD, totsize=totsize, step=0)


def config_team(number, first, second, max_steps, verbosity, every):
    team.update(max_steps=max_steps, every=every if verbosity > 1 and get_rank() == 0 else 0)


def broadcast(tensors, root):  # every array as it is on rank `root`
    return [team["comm"].bcast(tensor, root=root) for tensor in tensors]


def gradients(tensors, number):  # the mean of every array over all ranks: one flat message
    total = np.empty(team["totsize"], tensors[0].dtype)
    team["comm"].Allreduce(np.concatenate([tensor.ravel() for tensor in tensors]), total)
    team["step"] += 1
    if team["every"] and team["step"] % team["every"] == 0:
        print(f"step {team['step']} of {team['max_steps']}")
    pieces = np.split(total / get_nranks(), np.cumsum([tensor.size for tensor in tensors])[:-1])
    return [piece.reshape(tensor.shape) for piece, tensor in zip(pieces, tensors, strict=True)]


def get_rank():
    return team["comm"].Get_rank()


def get_nranks():
    return team["comm"].Get_size()


def finalize():
    team["comm"].Barrier()  # wait for all; MPI itself ends with the program
