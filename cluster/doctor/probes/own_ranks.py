"""Run as one of the ranks that a doctor with a single process starts. Rank 0 prints the result."""

from mpi4py import MPI

from cluster.doctor.probes.allreduce import measured

if __name__ == "__main__":
    world = MPI.COMM_WORLD
    numbers = measured(world) if world.size > 1 else {}
    if world.rank == 0:
        print(f"size={world.size}", *(f"{name}={value:.4f}" for name, value in numbers.items()))
