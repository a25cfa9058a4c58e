"""On nodes with GPUs, check whether the ranks can compute a sum with NCCL, each on its own GPU."""

import os
import statistics
import time
from collections.abc import Iterator
from datetime import timedelta

from cluster.doctor.ask_program import answer
from cluster.doctor.diagnosis import Diagnosis, broken, ok
from cluster.doctor.position import Position

FLOATS = 4 * 2**20  # 16 MB, as in the line allreduce
PATIENCE = timedelta(seconds=60)


def nccl(position: Position) -> Iterator[Diagnosis]:
    listed = answer("nvidia-smi", "-L")
    if position.size == 1 or not listed or not listed[1].startswith("GPU "):
        return
    import torch

    number, in_sight = local_number(position), torch.cuda.device_count()
    if number >= in_sight:
        yield without_gpu(position, number, in_sight)
        return
    torch.cuda.set_device(number)
    gb_s = bandwidth(position, "nccl", torch.device("cuda", number))
    if position.rank == 0:
        version = ".".join(map(str, torch.cuda.nccl.version()))
        words = f"{position.size} ranks sum over NCCL {version}: {gb_s:.1f} GB/s for 16 MB"
        yield ok(words, bus_gb_s=gb_s, version=version)


def local_number(position: Position) -> int:
    return position.hosts[: position.rank].count(position.hosts[position.rank])


def without_gpu(position: Position, number: int, in_sight: int) -> Diagnosis:
    return broken(
        f"rank {position.rank} is number {number} on {position.host}, counted from 0, and sees"
        f" {in_sight} GPUs: NCCL refuses two ranks on one",
        "let every task see all GPUs of its node (launch_ranks in the site file: "
        "--gpu-bind=none, CUDA_VISIBLE_DEVICES), or start fewer ranks per node",
        gpus=in_sight,
    )


def bandwidth(position: Position, backend: str, device) -> float:
    """Return the bandwidth of each rank's connection, in bytes per second.

    Raise an error if the sum is wrong or does not arrive.
    """
    import torch
    import torch.distributed as dist

    os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)  # under torchrun, use its own rendezvous
    address = os.environ.get("MASTER_ADDR", position.hosts[0])
    port = int(os.environ.get("MASTER_PORT", "29510")) + 1
    dist.init_process_group(
        backend, init_method=f"tcp://{address}:{port}", timeout=PATIENCE,
        rank=position.rank, world_size=position.size,
    )  # fmt: skip
    times = []
    for _ in range(6):
        tensor = torch.ones(FLOATS, device=device)
        dist.barrier()
        begin = time.perf_counter()
        dist.all_reduce(tensor)
        total = float(tensor[-1])  # waits for the GPU
        times.append(time.perf_counter() - begin)
        if total != position.size:
            raise ArithmeticError(f"{backend}: {position.size} ones add up to {total:g}")
    dist.destroy_process_group()
    moved = 2 * (position.size - 1) / position.size * 4 * FLOATS
    return moved / statistics.median(times[1:]) / 1e9
