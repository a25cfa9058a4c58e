"""Check sharded checkpoints (15.7): save a small network, and look at what is there meanwhile.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import CheckpointException
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from lessons.toolkit.checks.lesson_15.saving import CutError, expect

SAVED = {
    "background": (
        "save returns while other threads write",
        "Training waits here until everything is on the disk.",
    ),
    "no name yet": (
        "newest finds nothing while ranks still write",
        "Which names does newest take for complete checkpoints?",
    ),
    "named": (
        "after finish, newest returns the folder step_000005",
        "Who gives the folder its name, and when do all ranks know that everyone has written?",
    ),
    "by all ranks": ("every rank writes its part", "All ranks save into one folder."),
    "as it was": ("the state at the time of the call is saved", "Does the next step change it?"),
    "old one kept": (
        "if a rank dies while it writes, newest returns the checkpoint before",
        "The folder must not have its name before all ranks have written.",
    ),
}


def try_shards(sharded: ModuleType, where: str, device: Any = "cpu") -> None:
    """Save and load on all ranks, which call this, in a folder that all of them see."""
    met = shards_met(sharded, where, device)
    for name, (expected, advice) in SAVED.items():
        expect(met.get(name, False), expected, advice)


def shards_met(sharded: ModuleType, where: str, device: Any) -> dict[str, bool]:
    """Return which expectations are met. After the first steps all ranks go on, or none."""
    rank, met = dist.get_rank(), {}
    Path(where).mkdir(parents=True, exist_ok=True)
    shared = [tempfile.mkdtemp(dir=where) if rank == 0 else ""]
    dist.broadcast_object_list(shared)
    folder = Path(shared[0])
    network, optimizer = small(device)
    saver = sharded.Saver()
    try:
        with writes(held_back) as (threads, go):
            saver.save(network, optimizer, folder, 5)
            right = values(network, optimizer)
            update(network, optimizer)
            met["no name yet"] = sharded.newest(folder) is None
            talk(rank, device, threads)
            go.set()
            saver.finish()
        met["background"] = bool(threads) and threading.main_thread() not in threads
        newest = sharded.newest(folder)
        whole = newest is not None and (newest / ".metadata").exists()  # DCP writes it last
        named = torch.tensor(float(whole and newest.name == "step_000005"), device=device)
        dist.all_reduce(named, dist.ReduceOp.MIN)
        met["named"] = bool(named)
        if not named:
            return met
        writers = {file.name.split("_")[2] for file in newest.glob("__*.distcp")}
        met["by all ranks"] = len(writers) == dist.get_world_size()
        fresh = small(device)
        sharded.load(*fresh, newest)
        met["as it was"] = all(map(torch.equal, values(*fresh), right))
        with writes(cut if rank == dist.get_world_size() - 1 else held_back) as (_, go):
            go.set()
            with contextlib.suppress(CutError, CheckpointException):
                saver.save(network, optimizer, folder, 10)
                saver.finish()
        met["old one kept"] = sharded.newest(folder) == newest
        dist.barrier()
    finally:
        if rank == 0:
            shutil.rmtree(folder, ignore_errors=True)  # other ranks may write, if one fails alone
    return met


def small(device: Any) -> tuple[Any, Any]:
    """Return a small sharded network and its optimizer, after an update."""
    torch.manual_seed(5)
    network = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 2)).to(device)
    fully_shard(network, mesh=init_device_mesh(torch.device(device).type, (dist.get_world_size(),)))
    optimizer = torch.optim.AdamW(network.parameters(), 0.1)
    update(network, optimizer)
    return network, optimizer


def update(network: Any, optimizer: Any) -> None:
    for param in network.parameters():
        param.grad = torch.ones_like(param)
    optimizer.step()


def talk(rank: int, device: Any, threads: list[Any]) -> None:
    """Let all ranks add, as in training, until each writes or two seconds are over.

    Rank 0 begins first, so that writers without a group of their own meet its sums.
    """
    end, done = time.monotonic() + 2, torch.zeros(1, device=device)
    time.sleep(0.5 * (rank > 0))
    while not done:
        done.fill_(bool(threads) or time.monotonic() > end)
        dist.all_reduce(done, dist.ReduceOp.MIN)


def values(network: Any, optimizer: Any) -> list[torch.Tensor]:
    """Return copies of what this rank holds."""
    states = [each for state in optimizer.state.values() for each in state.values()]
    return [
        getattr(each, "_local_tensor", each).clone() for each in (*network.parameters(), *states)
    ]


def held_back(go: threading.Event, threads: list[Any]) -> None:
    """Let other threads wait for `go`. If it does not come, the main thread waits for them."""
    if threading.current_thread() is not threading.main_thread() and not go.wait(10):
        threads.append(threading.main_thread())


def cut(go: threading.Event, threads: list[Any]) -> None:
    raise CutError("the write was cut")


@contextlib.contextmanager
def writes(before: Callable[..., None]) -> Iterator[tuple[list[Any], Any]]:
    """Call `before` at each torch.save. Provide the threads that call it, and an event for them."""
    real, threads, go = torch.save, list[Any](), threading.Event()

    def save(*arguments: Any, **options: Any) -> None:
        threads.append(threading.current_thread())
        before(go, threads)
        real(*arguments, **options)

    try:
        with patch.object(torch, "save", save):
            yield threads, go
    finally:
        go.set()
