"""Record the six traces of lesson 14 on this machine: python -m tests.lessons.traces OUT [LETTERS].

Each is a few steps of a small network with one thing that takes too long, except for one of them.
"""

import datetime
import itertools
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import multiprocessing
from torch.profiler import profile
from torch.utils.data import DataLoader, Dataset

from lessons.toolkit import traces
from lessons.toolkit.record.devices import processor

ROOT = Path(__file__).parents[2]
STEPS = 4
TRIES = {"loader": 6, "none": 6, "overlap": 6}  # others: once
TRIES_IN_MEMORY = 200
# In which order students see them: the file names must not tell.
LETTERS = {
    "a": "shapes",
    "b": "loader",
    "c": "none",
    "d": "overlap",
    "e": "batch",
    "f": "sync",
}


class Reads(Dataset):
    def __init__(self, batches: int, delay: float, shape: tuple[int, int]) -> None:
        self.batches, self.delay, self.shape = batches, delay, shape

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, number: int) -> torch.Tensor:
        time.sleep(self.delay)
        return torch.full(self.shape, number % 7)


def network(width: int, layers: int = 2, length: int = 64) -> Any:
    sys.path.insert(0, str(ROOT / "solutions" / "14_profile"))
    from gpt import GPT

    torch.manual_seed(1)
    return GPT(11, length, layers, width)


def step(model: Any, optimizer: Any, ids: torch.Tensor, after: Callable[[], Any]) -> torch.Tensor:
    """Make an update, whose parts are named in the trace."""
    with torch.profiler.record_function("part: forward"):
        loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    with torch.profiler.record_function("part: backward"):
        optimizer.zero_grad()
        loss.backward()
    after()
    with torch.profiler.record_function("part: update"):
        optimizer.step()
    return loss


def steps(
    shape: tuple[int, int] = (8, 64),
    width: int = 128,
    delay: float = 0.0,
    workers: int = 1,
    lengths: tuple[int, ...] = (),
    item: bool = False,
) -> dict:
    """Return the trace of a few steps in one process.

    Without a delay, batches are in memory. Steps with `lengths` are compiled.
    """
    torch.set_num_threads(1)
    model = network(width, length=shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    call = torch.compile(model, dynamic=False) if lengths else model
    reads = Reads(STEPS + 2, delay, shape)
    ahead = {"num_workers": workers, "prefetch_factor": STEPS + 2} if workers else {}
    in_memory = itertools.cycle([reads[number] for number in range(2)]) if not delay else None
    loader = in_memory or iter(DataLoader(reads, None, **ahead))

    def noted() -> None:
        if item:
            with torch.profiler.record_function("part: note"):
                for param in model.parameters():
                    for value in (param.grad.norm(), param.grad.abs().max(), param.norm()):
                        value.item()

    for _ in range(2):
        ids = next(loader)
        step(call, optimizer, ids, noted)
    time.sleep(1 if delay and workers else 0)  # the workers finish, also on a busy machine
    best, shortest = None, float("inf")
    for _ in range(1 if delay else TRIES_IN_MEMORY):
        began = time.perf_counter()
        with profile() as profiler:
            for number in range(STEPS):
                with torch.profiler.record_function("part: input"):
                    ids = next(loader)
                if lengths:
                    ids = ids[:, : lengths[number % len(lengths)]]
                step(call, optimizer, ids, noted)
            took = time.perf_counter() - began
        if took < shortest:
            best, shortest = profiler, took
    return traces.reduced(best, shortest_us=0.0)


def on_rank(rank: int, folder: str) -> None:
    """Train on two ranks that exchange their gradients only when all of them are computed."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=2)
    model = network(384, length=16)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    ids = torch.full((4, 16), rank)

    def exchange() -> None:
        flat = torch.cat([param.grad.flatten() for param in model.parameters()])
        with torch.profiler.record_function("part: all-reduce"):
            dist.all_reduce(flat)
        sizes = [param.numel() for param in model.parameters()]
        for param, part in zip(model.parameters(), flat.split(sizes), strict=True):
            param.grad.copy_(part.view_as(param) / 2)

    step(model, optimizer, ids, exchange)
    dist.barrier()
    with profile() as profiler:
        for _ in range(STEPS):
            step(model, optimizer, ids, exchange)
    traces.write(f"{folder}/{rank}.json.gz", traces.reduced(profiler, f"rank {rank}"))
    dist.destroy_process_group()


def not_overlapped(folder: Path) -> dict:
    folder.mkdir()
    multiprocessing.spawn(on_rank, (str(folder),), nprocs=2)
    found = traces.together((traces.read(file) for file in sorted(folder.glob("*.gz"))), {})
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    return found


def about() -> dict[str, str]:
    return {
        "hardware": f"CPU {processor()}, one thread per process",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "steps": str(STEPS),
    }


def main(out: Path, letters: str = "") -> None:
    out.mkdir(exist_ok=True)
    work: dict[str, Callable[[], dict]] = {
        "none": lambda: steps(delay=0.005),
        "loader": lambda: steps(delay=0.06, workers=0),
        "sync": lambda: steps(width=64, shape=(8, 32), item=True),
        "batch": lambda: steps(width=16, shape=(1, 8)),
        "shapes": lambda: steps(width=32, shape=(4, 32), lengths=(16, 24, 16, 28), delay=0.001),
        "overlap": lambda: not_overlapped(out / "ranks"),
    }
    assert set(work) == set(LETTERS.values())
    for letter, lever in LETTERS.items():
        if letters and letter not in letters:
            continue
        file = out / f"{letter}.json.gz"
        # The machine may be busy: the shortest of several recordings shows the step itself.
        found = [work[lever]() for _ in range(TRIES.get(lever, 1))]
        traces.write(file, {**min(found, key=traces.length_of), "about": about()})
        print(f"{file}: {file.stat().st_size / 1000:.1f} kB", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
