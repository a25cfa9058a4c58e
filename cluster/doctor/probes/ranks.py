"""Check whether the ranks of a launch form one world, and whether they can add numbers."""

import os
import re
import shutil
import subprocess
import sys
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
        yield two_of_our_own()
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


# These are the doctor's own ranks on this machine, not ranks of a job.
OWN = {
    "PRTE_MCA_ras": "^slurm",
    "PRTE_MCA_plm": "^slurm",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "^ofi",  # no fabric within one machine
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
COUNT = "from mpi4py import MPI; print(f'size={MPI.COMM_WORLD.size}')"


def two_of_our_own() -> Diagnosis:
    """Start two ranks, because there is only one, to see whether MPI works here at all."""
    if not shutil.which("mpirun"):
        job = "start the doctor as a job: cluster doctor --job"
        return look("only one rank, and mpirun was not found", job)
    clean = {name: v for name, v in os.environ.items() if not re.match("SLURM_|PMI_|PMIX_", name)}
    done = subprocess.run(
        ["mpirun", "-np", "2", sys.executable, "-P", "-c", COUNT],
        env=clean | OWN,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    size = re.search(r"size=(\d+)", done.stdout)
    if done.returncode or not size:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines()]
        why = next((line for line in lines if line.strip("- ")), f"exit code {done.returncode}")
        return broken(f"mpirun -np 2 failed here: {why}", "see mpi")
    return compare(LaunchedAs("mpirun", 0, 0, 2), 0, int(size[1]))


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
