"""Check whether the ranks of a launch form one world, and whether they can add numbers."""

import os
from collections.abc import Iterator
from datetime import timedelta

from cluster.doctor.ask_program import answer
from cluster.doctor.diagnosis import Diagnosis, broken, look, ok
from cluster.launchers import LaunchedAs, launched

NO_MPI = ("torchrun", "horovodrun")  # their ranks meet without MPI
FLOATS = 4 * 2**20  # 16 MB, more than fits into one message
PATIENCE = timedelta(seconds=60)
DIFFERENT = "the launcher and this MPI differ: see mpi, and launch_ranks in the site file"


def launch() -> Iterator[Diagnosis]:
    """Compare the launcher's ranks with MPI's, and the cores of this rank with those requested."""
    here = launched()
    if here is None or here.size == 1:
        yield ok("one rank; to try several: cluster doctor --job", ranks=1)
        return
    if here.launcher in NO_MPI:
        yield ok(f"{here.size} ranks, which meet without MPI", ranks=here.size)
    else:
        from mpi4py import MPI

        yield compare(here, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    cores, asked = len(os.sched_getaffinity(0)), int(os.environ.get("SLURM_CPUS_PER_TASK") or 1)
    if cores < asked:
        yield broken(
            f"this rank is bound to {cores} of the {asked} cores that the job requests per rank",
            f"srun --cpus-per-task={asked} (srun does not inherit it), or mpirun --bind-to none",
        )


def compare(here: LaunchedAs, rank: int, size: int) -> Diagnosis:
    if size != here.size:
        return broken(
            f"{here.launcher} started {here.size} ranks, but MPI sees {size}: {here.size} programs"
            " would each train alone",
            DIFFERENT,
        )
    if rank != here.rank:
        return broken(f"{here.launcher} says rank {here.rank}, MPI says rank {rank}", DIFFERENT)
    return ok(f"{size} ranks in one MPI world", ranks=size)


def sum_up() -> Iterator[Diagnosis]:
    """Add a large array over all ranks, by NCCL if the node has GPUs and by Gloo if it has none."""
    here = launched()
    if here is None or here.size == 1:
        return
    if "MASTER_ADDR" not in os.environ:
        yield look(
            "MASTER_ADDR is not set, so ranks cannot meet as in the lessons",
            "start the doctor with its job file: cluster doctor --job",
        )
        return
    import torch

    listed = answer("nvidia-smi", "-L")
    device, backend = torch.device("cpu"), "gloo"
    if listed and listed[1].startswith("GPU "):
        visible = torch.cuda.device_count()
        if here.local_rank >= visible:
            yield broken(
                f"this rank is number {here.local_rank} of its node, counted from 0, and sees"
                f" {visible} GPUs: NCCL refuses two ranks on one",
                "let every task see all GPUs of its node (launch_ranks in the site file: "
                "--gpu-bind=none, CUDA_VISIBLE_DEVICES), or start fewer ranks per node",
                gpus=visible,
            )
            return
        device, backend = torch.device("cuda", here.local_rank), "nccl"
        torch.cuda.set_device(device)
    add(here, backend, device)
    words = f"NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}" if backend == "nccl" else "Gloo"
    yield ok(f"{here.size} ranks add 16 MB over {words}", backend=backend, ranks=here.size)


def add(here: LaunchedAs, backend: str, device) -> None:
    """Add one array over all ranks. Raise an error if the sum is wrong or does not arrive."""
    import torch
    import torch.distributed as dist

    os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)  # under torchrun, use our own rendezvous
    port = int(os.environ.get("MASTER_PORT", "29510")) + 1
    meeting = f"tcp://{os.environ['MASTER_ADDR']}:{port}"
    dist.init_process_group(
        backend, init_method=meeting, timeout=PATIENCE, rank=here.rank, world_size=here.size
    )
    tensor = torch.ones(FLOATS, device=device)
    dist.all_reduce(tensor)
    wrong = int((tensor != here.size).sum())
    dist.destroy_process_group()
    if wrong:
        raise ArithmeticError(f"{backend}: {here.size} ones do not add up in {wrong} places")
