"""Interrupt the writing of checkpoints, and look what is there afterwards.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock, patch

import torch


class CutError(OSError):
    """The error that interrupts a write halfway, as a kill would."""


def half(state: Any, file: Any, *more: Any, **options: Any) -> None:
    """Save as torch.save does, but only half."""
    with contextlib.nullcontext(file) if hasattr(file, "write") else open(file, "wb") as opened:
        opened.write(b"half of a file")
    raise CutError("the write was cut")


def files_met(atomic: ModuleType) -> dict[str, bool]:
    """Return which of six expectations the checkpoint files meet."""
    met = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"step_{step:06}.pt" for step in (5, 10)]
        disk = Mock()
        with contextlib.ExitStack() as stack:
            for name in ("fsync", "replace", "rename"):
                spy = patch.object(os, name, wraps=getattr(os, name))
                disk.attach_mock(stack.enter_context(spy), name)
            atomic.write({"step": 5}, paths[0])
        met["written"] = holds(paths[0], 5)
        calls = [name for name, *_ in disk.mock_calls]
        met["synced"] = calls[:1] == ["fsync"] and len(set(calls)) > 1
        with patch.object(torch, "save", half), contextlib.suppress(CutError):
            atomic.write({"step": 6}, paths[0])
        met["old file kept"] = holds(paths[0], 5) and atomic.files_in(folder) == [paths[0]]
        torch.save({"step": 5}, paths[0])
        torch.save({"step": 10}, paths[1])
        met["newest"] = atomic.newest(folder) == {"step": 10}
        with patch.object(torch.serialization, "location_tag", lambda _: "cuda:0"):
            torch.save({"step": 10, "of": torch.ones(2)}, paths[1])
        with contextlib.redirect_stdout(None):  # of a half file, and of machines without cuda:0
            met["in host memory"] = on_host(atomic.newest(folder))
            paths[1].write_bytes(paths[1].read_bytes()[:200])
            met["half file skipped"] = atomic.newest(folder) == {"step": 5}
    return met


def on_host(state: Any) -> bool:
    """Return whether this is the state whose tensor was saved as if it were on rank 0's GPU."""
    return isinstance(state, dict) and "of" in state and state["of"].device.type == "cpu"


def holds(path: Path, step: int) -> bool:
    """Return whether a file is complete and contains the state of this step."""
    with contextlib.suppress(Exception):
        return bool(torch.load(path) == {"step": step})
    return False
