"""Allreduce by hand: every rank ends with the sum of all arrays, which change in place.

comm is an mpi4py communicator; Send, Recv and Sendrecv with a capital letter move plain arrays.
"""

import numpy as np


def ps_allreduce(comm, values):
    """Add up on a parameter server: rank 0 collects every array and sends the sum to all."""
    rank, size = comm.Get_rank(), comm.Get_size()
    raise NotImplementedError("Exercise 6.1: the part of rank 0, and that of the others")


def ring_allreduce(comm, values):
    """Add up in a ring: 2 (size - 1) times, send a chunk to the right and get one from the left."""
    rank, size = comm.Get_rank(), comm.Get_size()
    right = (rank + 1) % size
    left = (rank - 1) % size
    chunks = np.array_split(values, size)  # these are views: writing into a chunk changes values
    raise NotImplementedError("Exercise 6.2: both halves of the ring")


def overlapped_allreduce(comm, gradients):
    """Return sums of arrays that become ready one after another, last layer first.

    gradients is a generator: while it computes the next array, the last one may already travel.
    """
    raise NotImplementedError("Exercise 6.5: sums that travel while the next array is computed")
