"""Time allreduce of the available back ends, its two halves, and many small arrays.

mpirun -np 2 python backends.py --floats 256 25600 2560000
"""

import statistics
import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import numpy as np
import torch
from mpi4py import MPI
from torch import distributed as dist

from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

comm = MPI.COMM_WORLD
SIZES = [256, 2560, 25600, 256_000, 2_560_000]
TENSORS = 160  # about as many gradients as a ResNet-50 has; most of them are small


def timed(work):
    """Return the seconds of the slowest rank."""
    comm.Barrier()
    begin = time.perf_counter()
    work()
    return comm.allreduce(time.perf_counter() - begin, MPI.MAX)


def in_turns(works, rounds):
    """Return each function's median seconds, in turns. The first round includes connecting."""
    times = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            times[name].append(timed(work))
    return {name: statistics.median(later) for name, (_, *later) in times.items()}


def meet(backend):
    """Return torch.distributed's group of the ranks that MPI started, with this back end."""
    rank, size = comm.Get_rank(), comm.Get_size()
    host = comm.bcast(MPI.Get_processor_name())
    store = (
        dist.TCPStore(host, 0, size, is_master=True, wait_for_workers=False) if rank == 0 else None
    )
    port = comm.bcast(store.port if store else None)
    store = store or dist.TCPStore(host, port, size, is_master=False)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    return store  # rank 0's has to exist as long as the group


def zeros(backend, floats):
    """Return an array for this back end: NumPy's for MPI, else a tensor (NCCL: on a GPU)."""
    if backend == "mpi":
        return np.zeros(floats, np.float32)
    return torch.zeros(floats, device="cuda" if backend == "nccl" else "cpu")


def reduce_all(backend, arrays):
    """Sum each array over all ranks. NCCL's calls only queue their work: wait once, for all."""
    for array in arrays:
        if backend == "mpi":
            comm.Allreduce(MPI.IN_PLACE, array)
        else:
            dist.all_reduce(array)
    if backend == "nccl":
        torch.cuda.synchronize()


def reduce_fused(backend, arrays):
    """Do the same with one message: copy all arrays into a buffer, reduce it, and copy back."""
    numpy = backend == "mpi"
    buffer = np.concatenate(arrays) if numpy else torch.cat(arrays)
    reduce_all(backend, [buffer])
    parts = np.split(buffer, len(arrays)) if numpy else buffer.split(len(arrays[0]))
    for array, part in zip(arrays, parts, strict=True):
        array[:] = part
    if backend == "nccl":
        torch.cuda.synchronize()


def halves(run, floats):
    """Time reduce-scatter, then allgather, which make up allreduce. The sums have to be equal."""
    size = comm.Get_size()
    values = np.arange(floats // size * size, dtype=np.float32) % 97 + comm.Get_rank()
    total, again = np.empty_like(values), np.empty_like(values)
    mine = np.empty(len(values) // size, np.float32)
    works = {
        "allreduce": lambda: comm.Allreduce(values, total),
        "reduce-scatter": lambda: comm.Reduce_scatter_block(values, mine),
        "allgather": lambda: comm.Allgather(mine, again),
    }
    for name, seconds in in_turns(works, 10).items():
        run.measure("half_s", seconds, "s", what=name, bytes=values.nbytes)
    run.measure("halves_error", float(np.abs(total - again).max()))


def fusion(run, backend, floats):
    """Time many small arrays, one after another or copied into one buffer."""
    small = [zeros(backend, floats) for _ in range(TENSORS)]
    works = {
        "one by one": lambda: reduce_all(backend, small),
        "fused": lambda: reduce_fused(backend, small),
    }
    for name, seconds in in_turns(works, 10).items():
        run.measure("fusion_s", seconds, "s", backend=backend, what=name, arrays=TENSORS)


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--floats", type=int, nargs="+", default=SIZES, help="sizes of the arrays to exchange"
    )
    return parser


def main():
    args = command_line().parse_args()
    enough_gpus(torch.cuda.device_count())
    if torch.cuda.is_available():  # NCCL needs one GPU for each rank of a node
        torch.cuda.set_device(comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank())
    run = Run("06", source="backends")
    for backend in ("mpi", "gloo", *(["nccl"] if torch.cuda.is_available() else [])):
        store = None if backend == "mpi" else meet(backend)
        for floats in args.floats:
            array = zeros(backend, floats)
            rounds = int(min(30, max(5, 3e6 / floats)))
            work = {backend: lambda name=backend, array=array: reduce_all(name, [array])}
            [seconds] = in_turns(work, rounds).values()
            run.measure("allreduce_s", seconds, "s", backend=backend, bytes=4 * floats)
        fusion(run, backend, 256)
        if store:
            dist.destroy_process_group()
    halves(run, min(max(args.floats), max(SIZES)))  # three arrays of 512 MB are of no use
    run.end()


if __name__ == "__main__":
    main()
