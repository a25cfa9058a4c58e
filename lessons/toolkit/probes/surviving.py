"""Call the functions of lesson 15 with inputs whose correct results are known.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import io
import math
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch

from lessons.toolkit.probes.refusal import tell

Function = Callable[..., Any]


def agree_wrong(signals: ModuleType, device: Any) -> int:
    """Count the cases in which this rank is wrong about whether any rank was warned."""
    rank, wrong = torch.distributed.get_rank(), 0
    for who in (None, *range(torch.distributed.get_world_size())):
        signals.warnings[:] = [signal.SIGUSR1] if who == rank else []
        try:
            answer = signals.anyone_warned(device) is (who is not None)
        except Exception as raised:
            tell("whether ranks agree on a warning", raised)
            answer = False
        wrong += not answer
    signals.warnings.clear()
    return wrong


class CutError(OSError):
    """The error that interrupts a write halfway, as a kill would."""


@contextlib.contextmanager
def watched_disk(cut: bool = False) -> Iterator[list[str]]:
    """Record calls to `fsync`, `replace` and `rename`.

    With `cut`, torch.save is interrupted halfway.
    """
    seen: list[str] = []

    def noted(name: str) -> Function:
        real = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            seen.append(name)
            return real(*arguments, **options)

        return call

    def half(state: Any, file: Any, *more: Any, **options: Any) -> None:
        if hasattr(file, "write"):
            file.write(b"half of a file")
        else:
            Path(file).write_bytes(b"half of a file")
        raise CutError("the write was cut")

    with contextlib.ExitStack() as stack:
        for name in ("fsync", "replace", "rename"):
            stack.enter_context(patch.object(os, name, noted(name)))
        if cut:
            stack.enter_context(patch.object(torch, "save", half))
        yield seen


def files_wrong(atomic: ModuleType) -> int:
    """Return how many of six expectations about the checkpoint files are not met."""
    with contextlib.redirect_stdout(None):  # what `newest` says of the probe's half files
        met, _, raised = files_met(atomic)
    if raised:
        tell("checkpoint files", raised)
    return sum(not each for each in met.values())


def files_met(atomic: ModuleType) -> tuple[dict[str, bool], str, Exception | None]:
    """Return which expectations the files meet, what was printed, and the error, if there was one.

    Expectations that were not tested because of the error count as not met.
    """
    said, error = io.StringIO(), None
    met = dict.fromkeys(
        ("written", "synced", "old file kept", "newest", "in host memory", "half file skipped"),
        False,
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"step_{step:06}.pt" for step in (5, 10)]
        try:
            with watched_disk() as seen:
                atomic.write({"step": 5}, paths[0])
            met["written"] = holds(paths[0], 5)
            moves = [place for place, name in enumerate(seen) if name != "fsync"]
            met["synced"] = bool(moves) and "fsync" in seen[: moves[0]]
            with watched_disk(cut=True), contextlib.suppress(CutError):
                atomic.write({"step": 6}, paths[0])
            met["old file kept"] = holds(paths[0], 5) and atomic.files_in(folder) == [paths[0]]
            torch.save({"step": 5}, paths[0])
            torch.save({"step": 10}, paths[1])
            met["newest"] = atomic.newest(folder) == {"step": 10}
            with patch.object(torch.serialization, "location_tag", lambda _: "cuda:0"):
                torch.save({"step": 10, "of": torch.ones(2)}, paths[1])
            with contextlib.redirect_stdout(None):  # of machines that have no cuda:0
                met["in host memory"] = on_host(atomic.newest(folder))
            paths[1].write_bytes(paths[1].read_bytes()[:200])
            with contextlib.redirect_stdout(said):
                met["half file skipped"] = atomic.newest(folder) == {"step": 5}
        except Exception as raised:
            error = raised
    return met, said.getvalue(), error


def on_host(state: Any) -> bool:
    """Return whether this is the state whose tensor was saved as if it were on rank 0's GPU."""
    return isinstance(state, dict) and "of" in state and state["of"].device.type == "cpu"


def holds(path: Path, step: int) -> bool:
    """Return whether a file is complete and contains the state of this step."""
    with contextlib.suppress(Exception):
        return bool(torch.load(path) == {"step": step})
    return False


# Steps of the checkpoints that rank 0 sees, and of those that the others see; negative: a damaged
# file. The last number is the step from which all ranks have to begin.
SIGHTS: tuple[tuple[tuple[int, ...], tuple[int, ...], int | None], ...] = (
    ((5, 10), (5, 10), 10),
    ((5, -10), (5, 10), 5),
    ((), (5,), None),
)


def chosen_wrong(atomic: ModuleType) -> int:
    """Return in how many cases this rank does not begin from what rank 0 can read."""
    rank, wrong = torch.distributed.get_rank(), 0
    for own, others, right in SIGHTS:
        try:
            with (
                contextlib.redirect_stdout(None),  # what `newest` says of the damaged file
                patch.object(atomic, "newest", never_raising(atomic.newest)),
            ):
                answer = first_step(atomic, others if rank else own) == right
        except Exception as raised:
            tell("which checkpoint all ranks begin from", raised)
            answer = False
        wrong += not answer
    return wrong


def never_raising(newest: Function) -> Function:
    """Return the function with None for an error, after which the other ranks would wait forever.

    `files_met` counts such an error.
    """

    def call(folder: str) -> Any:
        with contextlib.suppress(Exception):
            return newest(folder)
        return None

    return call


def first_step(atomic: ModuleType, sight: tuple[int, ...]) -> int | None:
    """Return the step from which this rank begins if it sees these checkpoints.

    It has a folder of its own, because a disk may fail, or a file arrive late, for one rank alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        for step in sight:
            path = Path(folder) / f"step_{abs(step):06}.pt"
            torch.save({"step": step}, path) if step > 0 else path.write_bytes(b"half of a file")
        saved = atomic.agreed(folder)
        return None if saved is None else int(saved["step"])


def gradient_error(add_gradients: Function) -> float:
    """Return the largest error of a gradient and a loss that are summed over ranks and pieces.

    The ranks are simulated, one after the other. The error is infinite if a piece exceeds the
    maximum length.
    """
    generator = torch.Generator().manual_seed(5)
    inputs = torch.randn(12, 4, generator=generator, dtype=torch.float64)
    batch = torch.randperm(12, generator=generator)
    errors = []
    for size, most in ((1, 12), (1, 5), (2, 6), (2, 4), (3, 3)):
        weights = torch.ones(4, dtype=torch.float64, requires_grad=True)
        lengths: list[int] = []

        def loss_of(numbers: Any, weights: Any = weights, lengths: Any = lengths) -> Any:
            lengths.append(len(numbers))
            return (inputs[numbers] @ weights).square().mean()

        losses = [add_gradients(loss_of, batch, rank, size, most) for rank in range(size)]
        errors.append(math.inf if max(lengths) > most else 0.0)
        whole = loss_of(batch)
        [right] = torch.autograd.grad(whole, [weights])
        found: Any = weights.grad
        errors += [float((found - right).abs().max()), abs(float(sum(losses)) - whole.item())]
    return float(torch.tensor(errors).max())  # unlike max(), it keeps a NaN
