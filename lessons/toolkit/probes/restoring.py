"""Save the state of a training with random gradients, and count what is not restored.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import copy
import importlib
import tempfile
from collections.abc import Callable
from typing import Any

import torch

Function = Callable[..., Any]
PARTS = ("network", "optimizer", "schedule", "sampler", "random")
SEED = 1000


def restore_wrong(write: Function, arguments: tuple[Any, Any, Any]) -> int:
    """Return how many parts differ after the state was saved, read and restored.

    arguments: text, args and device, from which the program builds a training.
    """
    step, snapshot, atomic = map(importlib.import_module, ("step", "snapshot", "atomic"))
    args = arguments[1]
    with (
        torch.random.fork_rng(devices=[]),
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(None),
    ):
        training = step.build(*arguments)
        training = training._replace(sampler=type(training.sampler)(args.windows, SEED))
        number = wander(training, args)
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


def wander(training: Any, args: Any) -> int:
    """Take steps with random gradients, into the second epoch. Return how many."""
    torch.manual_seed(SEED)
    number = args.windows // args.global_batch + 1
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
