"""Check files (15.2), and who chooses them (15.3)."""

import contextlib
import os
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

SYNCS = ("fsync", "fdatasync")
GIVEN = "Compare newest with the one that you were given."


class CutError(OSError):
    """The error that interrupts a write halfway, as a kill would."""


def half(state: Any, file: Any, *more: Any, **options: Any) -> None:
    """Save as torch.save does, but only half."""
    with contextlib.nullcontext(file) if hasattr(file, "write") else open(file, "wb") as opened:
        opened.write(b"half of a file")
    raise CutError("the write was cut")


@exercise("15.2")
def check_15_2(atomic: ModuleType) -> str:
    """A checkpoint file is complete or absent, whenever the process is killed."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        old, new = (Path(folder) / f"step_{step:06}.pt" for step in (5, 10))
        calls = calls_to_disk(lambda: atomic.write({"step": 5}, old))
        expected = "write saves the state in the file `path`"
        expect(holds(old, 5), expected, "The file gets its name last.")
        expected = "all bytes are on the disk before the file gets its name"
        advice = "What is on the disk if the machine stops right after os.replace?"
        safe = bool(calls) and calls[0] in {(name, old.stat().st_size) for name in SYNCS}
        expect(safe and any(name not in SYNCS for name, _ in calls), expected, advice)
        with patch.object(torch, "save", half), contextlib.suppress(CutError):
            atomic.write({"step": 6}, old)
        expected = "a write that is killed leaves the old file, and nothing like a checkpoint"
        advice = "Which names does files_in take for checkpoints?"
        expect(holds(old, 5) and atomic.files_in(folder) == [old], expected, advice)
        torch.save({"step": 5}, old)
        torch.save({"step": 10}, new)
        right = atomic.newest(folder) == {"step": 10}
        expect(right, "newest returns the state in the last file", GIVEN)
        with patch.object(torch.serialization, "location_tag", lambda _: "cuda:0"):
            torch.save({"step": 10, "of": torch.ones(2)}, new)
        with contextlib.redirect_stdout(None):  # of a half file, and of machines without cuda:0
            found = atomic.newest(folder)
            new.write_bytes(new.read_bytes()[:200])
            skipped = atomic.newest(folder) == {"step": 5}
        on_host = isinstance(found, dict) and "of" in found and found["of"].device.type == "cpu"
        expect(on_host, "newest loads into host memory, whatever the state was saved from", GIVEN)
        expect(skipped, "newest goes on to the file before if it cannot read one", GIVEN)
    return "A file is complete or absent."


def calls_to_disk(work: Callable[[], Any]) -> list[tuple[str, int]]:
    """Return the calls that make a file safe or name it, in their order, with its size by then."""
    calls = []

    def noted(name: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        file = [*given, *named.values()][0]
        calls.append((name, os.stat(getattr(file, "fileno", lambda: file)()).st_size))
        return call(*given, **named)

    with contextlib.ExitStack() as stack:
        for name in (*SYNCS, "replace", "rename"):
            stack.enter_context(patch.object(os, name, partial(noted, name, getattr(os, name))))
        work()
    return calls


def holds(path: Path, step: int) -> bool:
    """Return whether a file is complete and contains the state of this step."""
    import torch

    with contextlib.suppress(Exception):
        return bool(torch.load(path) == {"step": step})
    return False


def expect(right: bool, expected: str, advice: str) -> None:
    if not right:
        raise CheckFailed(expected, "not here", advice)


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
