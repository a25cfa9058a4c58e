"""Allreduce by hand: every rank ends with the sum of all arrays, which change in place.

comm is an mpi4py communicator; Send, Recv and Sendrecv with a capital letter move plain arrays.
"""

import numpy as np


def ps_allreduce(comm, values):
    """Add up on a parameter server: rank 0 collects every array and sends the sum to all."""
    rank, size = comm.Get_rank(), comm.Get_size()
    ### BEGIN SOLUTION Exercise 6.1: the part of rank 0, and that of the others
    if rank == 0:
        received = np.empty_like(values)
        for source in range(1, size):
            comm.Recv(received, source=source)
            values += received
        for dest in range(1, size):
            comm.Send(values, dest=dest)
    else:
        comm.Send(values, dest=0)
        comm.Recv(values, source=0)
    ### END SOLUTION


def ring_allreduce(comm, values):
    """Add up in a ring: 2 (size - 1) times, send a chunk to the right and get one from the left."""
    rank, size = comm.Get_rank(), comm.Get_size()
    right = (rank + 1) % size
    left = (rank - 1) % size
    chunks = np.array_split(values, size)  # these are views: writing into a chunk changes values
    ### BEGIN SOLUTION Exercise 6.2: both halves of the ring
    received = np.empty_like(chunks[0])  # the first chunk is the largest
    for number in range(size - 1):
        give = chunks[(rank - number) % size]
        take = chunks[(rank - number - 1) % size]
        comm.Sendrecv(give, dest=right, recvbuf=received[: take.size], source=left)
        take += received[: take.size]
    for number in range(size - 1):
        give = chunks[(rank - number + 1) % size]
        take = chunks[(rank - number) % size]
        comm.Sendrecv(give, dest=right, recvbuf=take, source=left)
    ### END SOLUTION


def overlapped_allreduce(comm, gradients):
    """Return sums of arrays that become ready one after another, last layer first.

    gradients is a generator: while it computes the next array, the last one may already travel.
    """
    ### BEGIN SOLUTION Exercise 6.5: sums that travel while the next array is computed
    started = []
    for gradient in gradients:
        total = np.empty_like(gradient)
        started.append((comm.Iallreduce(gradient, total), total, gradient))  # both must live on
    for request, _, _ in started:
        request.Wait()
    return [total for _, total, _ in started]
    ### END SOLUTION
