"""Save a training state that no program can recompute, and count what is not restored.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import copy
import importlib
import secrets
import tempfile
from collections.abc import Callable
from typing import Any

import torch

Function = Callable[..., Any]
PARTS = ("network", "optimizer", "schedule", "sampler", "random")


def restore_wrong(write: Function, arguments: tuple[Any, Any, Any]) -> int:
    """Return how many parts differ after the state was saved, read and restored.

    arguments: text, args and device, from which the program builds a training.
    """
    step, snapshot, atomic = map(importlib.import_module, ("step", "snapshot", "atomic"))
    _, args, _ = arguments
    with (
        torch.random.fork_rng(devices=[]),
        # In the folder of the program's checkpoints, so that the disk does not reveal it.
        tempfile.TemporaryDirectory(dir=args.folder) as folder,
        contextlib.redirect_stdout(None),
    ):
        training, seed = step.build(*arguments), secrets.randbits(31)
        training = training._replace(sampler=type(training.sampler)(args.windows, seed))
        number = wander(training, args, seed)
        # Copy the states before the program sees them, because it could change them.
        right = copy.deepcopy(states(training))
        random = torch.get_rng_state()
        right["random"] = torch.rand(8)
        torch.set_rng_state(random)
        write(snapshot.capture(training) | {"step": number}, folder, number)
        if hasattr(write, "wait"):  # it writes in the background
            write.wait()
        right["sampler"] = batches(training, args)

        training = step.build(*arguments)
        saved = atomic.newest(folder)
        if saved:
            snapshot.restore(training, saved)
        found = states(training) | {"random": torch.rand(8)}
        found["sampler"] = batches(training, args)
    return sum(not equal(found[part], right[part]) for part in PARTS)


def wander(training: Any, args: Any, seed: int) -> int:
    """Take steps with random gradients, as no real training does. Return how many."""
    torch.manual_seed(seed)
    each = args.windows // args.global_batch  # steps of an epoch
    inside = [step for step in range(1, args.epochs * each) if step % each] or [1]
    number = inside[seed % len(inside)]
    for _ in range(number):
        for param in training.network.parameters():
            param.grad = torch.randn_like(param)
        training.optimizer.step()
        training.schedule.step()
        training.sampler.next_batch(args.global_batch)
    return number


def batches(training: Any, args: Any) -> list[torch.Tensor]:
    """Return the next batches of about two epochs."""
    steps = 2 * args.windows // args.global_batch
    return [training.sampler.next_batch(args.global_batch) for _ in range(steps)]


def states(training: Any) -> dict[str, Any]:
    """Return the states of PyTorch's own objects."""
    return {part: getattr(training, part).state_dict() for part in PARTS[:3]}


def equal(one: Any, other: Any) -> bool:
    """Return whether two states have the same structure and the same values, bit for bit."""
    try:
        torch.testing.assert_close(one, other, rtol=0, atol=0, check_device=False)
    except (AssertionError, TypeError, ValueError):
        return False
    return True
