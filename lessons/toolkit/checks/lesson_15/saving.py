"""Check files (15.2), who chooses them (15.3), and sharded checkpoints (15.7)."""

import contextlib
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown
from lessons.toolkit.checks.shared.real_ranks import on_ranks

GIVEN = "Compare newest with the one that you were given."
FILES = {
    "written": (
        "write saves the state in the file `path`",
        "The file gets its name last.",
    ),
    "synced": (
        "all bytes are on the disk before the file gets its name",
        "What is on the disk if the machine stops right after os.replace?",
    ),
    "old file kept": (
        "a write that is killed leaves the old file, and nothing that looks like a checkpoint",
        "Which names does files_in take for checkpoints?",
    ),
    "newest": ("newest returns the state in the last file", GIVEN),
    "in host memory": ("newest loads into host memory, whatever the state was saved from", GIVEN),
    "half file skipped": ("newest goes on to the file before if it cannot read one", GIVEN),
}


@exercise("15.2")
def check_15_2(atomic: ModuleType) -> str:
    """A checkpoint file is complete or absent, whenever the process is killed."""
    from lessons.toolkit.probes.surviving import files_met

    met = files_met(atomic)
    for name, (expected, advice) in FILES.items():
        if not met[name]:
            raise CheckFailed(expected, "not here", advice)
    return "A file is complete or absent."


# Steps of the checkpoints that rank 0 sees, and of those that the others see; negative: a damaged
# file. The last number is the step from which all ranks have to begin.
Sight = tuple[tuple[int, ...], tuple[int, ...], int | None]
SHORT = 10_000  # bytes of a message, at most; the checkpoints here have eight times as many
SIGHTS: tuple[Sight, ...] = (((5, 10), (5, 10), 10), ((5, -10), (5, 10), 5), ((), (5,), None))


@exercise("15.3")
def check_15_3(atomic: ModuleType) -> str:
    """All ranks begin from the newest checkpoint that rank 0 can read, or from none."""
    hangs = "Every rank calls the same collectives, also if rank 0 found no checkpoint."
    for sight in SIGHTS:
        on_ranks(2, partial(try_sight, atomic, sight), check_15_3, hangs)
    return "All ranks begin from the newest that rank 0 can read."


def try_sight(atomic: ModuleType, sight: Sight, rank: int) -> None:
    """Let this rank begin from the checkpoints that it sees.

    It has a folder of its own, because a disk may fail, or a file arrive late, for one rank alone.
    """
    import torch
    import torch.distributed as dist

    own, others, right = sight
    sizes, send = [0], dist.broadcast_object_list

    def broadcast(objects: Any, *more: Any, **options: Any) -> None:
        sizes.append(len(pickle.dumps(objects)))
        send(objects, *more, **options)

    with tempfile.TemporaryDirectory() as folder:
        for step in others if rank else own:
            path = Path(folder) / f"step_{abs(step):06}.pt"
            state = {"step": step, "network": torch.zeros(20_000)}
            torch.save(state, path) if step > 0 else path.write_bytes(b"half of a file")
        with (
            patch.object(dist, "broadcast_object_list", broadcast),
            contextlib.redirect_stdout(None),  # what `newest` says of the damaged file
        ):
            saved = atomic.agreed(folder)
    if max(sizes) > SHORT:
        advice = "The other ranks can read the file themselves. What do they need to know?"
        raise CheckFailed("a short message", f"a message of {max(sizes):,} bytes", advice)
    begun = None if saved is None else saved["step"]
    if begun != right:
        what = f"rank 0 sees steps {own} (negative: damaged): all begin from {right}"
        advice = "Only rank 0 looks for the newest. What do the others need to know from it?"
        raise CheckFailed(what, f"rank {rank} begins from {shown(begun)}", advice)


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


@exercise("15.7")
def check_15_7(sharded: ModuleType) -> str:
    """A sharded checkpoint is written in the background, and is complete or not the newest."""
    from lessons.toolkit.probes.saving_shards import shards_met

    hangs = "Every rank calls the same collectives, and waits for its own threads."
    with tempfile.TemporaryDirectory() as folder:
        work = partial(in_folder, shards_met, sharded, folder)
        for met in on_ranks(2, work, check_15_7, hangs):
            for name, (expected, advice) in SAVED.items():
                if not met[name]:
                    raise CheckFailed(expected, "not here", advice)
    return "All ranks write their parts while training goes on, and one of them names the folder."


def in_folder(met: Callable[..., Any], sharded: ModuleType, folder: str, rank: int) -> Any:
    return met(sharded, "cpu", folder)
