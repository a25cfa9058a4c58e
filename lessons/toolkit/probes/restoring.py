"""Save a training state that no program can recompute, and count what is not restored.

The package does not import this file, because it needs PyTorch.
"""

import contextlib
import copy
import importlib
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from lessons.toolkit.probes.refusal import tell

Function = Callable[..., Any]
PARTS = ("network", "optimizer", "schedule", "sampler", "random")


def restore_wrong(write: Function, arguments: tuple[Any, Any, Any]) -> int:
    """Return how many parts differ after the state was saved, read and restored.

    arguments: text, args and device, from which the program builds a training. If the program
    fails, all parts count as wrong.
    """
    _, args, _ = arguments
    try:
        with (
            torch.random.fork_rng(devices=[]),
            # In the folder of the program's checkpoints, so that the disk does not reveal it.
            tempfile.TemporaryDirectory(dir=args.folder) as folder,
            contextlib.redirect_stdout(None),
        ):
            return len(parts_wrong(write, arguments, secrets.randbits(31), folder))
    except Exception as raised:
        tell("what a checkpoint restores", raised)
        return len(PARTS)


def parts_wrong(
    write: Function, arguments: tuple[Any, Any, Any], seed: int, folder: str
) -> list[str]:
    """Return the names of the parts that differ after they were saved, read and restored."""
    _, args, _ = arguments
    step, snapshot = (importlib.import_module(name) for name in ("step", "snapshot"))
    training = step.build(*arguments)
    number = scramble(training, args, seed)
    training = training._replace(sampler=type(training.sampler)(args.windows, seed))
    for _ in range(number):
        training.sampler.next_batch(args.global_batch)
    torch.manual_seed(seed + 1)  # unlike the sampler's
    state = torch.get_rng_state()
    # Copy the states before the program sees them, because it could change them.
    right = copy.deepcopy(states(training)) | {
        "sampler": batches(args, seed, number),
        "random": torch.rand(8),
    }
    torch.set_rng_state(state)
    write(snapshot.capture(training) | {"step": number}, folder, number)
    if hasattr(write, "wait"):  # it writes in the background
        write.wait()

    with imported_again(step) as (step, snapshot, atomic):
        training = step.build(*arguments)
        saved = atomic.newest(folder)
        if saved:
            snapshot.restore(training, saved)
        found = states(training) | {"random": torch.rand(8)}
        found["sampler"] = [
            training.sampler.next_batch(args.global_batch) for _ in right["sampler"]
        ]
    return [part for part in PARTS if not equal(found[part], right[part])]


def scramble(training: Any, args: Any, seed: int) -> int:
    """Draw a step, parameters and the optimizer's state. Return the number of the step.

    Training from step 0 does not lead there, so only a checkpoint can.
    """
    generator = torch.Generator().manual_seed(seed)
    each = args.windows // args.global_batch  # steps of an epoch
    inside = [step for step in range(1, args.epochs * each) if step % each] or [1]
    number = inside[int(torch.randint(len(inside), (1,), generator=generator))]

    def drawn(like: torch.Tensor) -> torch.Tensor:
        return torch.randn(like.shape, generator=generator).to(like)

    for param in training.network.parameters():
        param.grad = drawn(param)
    training.optimizer.step()  # makes the state that is filled below
    for kept in training.optimizer.state.values():
        for name, value in kept.items():
            value.copy_(torch.tensor(number) if name == "step" else drawn(value).square())
    for _ in range(number):
        training.schedule.step()
    return number


def batches(args: Any, seed: int, first: int) -> list[torch.Tensor]:
    """Return the batches of two epochs from a step on, in the order that the sampler draws."""
    generator = torch.Generator().manual_seed(seed)
    each = args.windows // args.global_batch
    epochs = range(first // each + 3)
    orders = [torch.randperm(args.windows, generator=generator) for _ in epochs]
    return list(torch.cat(orders).split(args.global_batch)[first : first + 2 * each])


def states(training: Any) -> dict[str, Any]:
    """Return the states of PyTorch's own objects."""
    return {part: getattr(training, part).state_dict() for part in PARTS[:3]}


@contextlib.contextmanager
def imported_again(module: ModuleType) -> Iterator[tuple[Any, Any, Any]]:
    """Import the modules beside this one again, so that they remember nothing, as in a new life."""
    folder = Path(str(module.__file__)).parent
    own = {name: each for name, each in beside(folder).items() if name != "__main__"}
    for name in own:
        del sys.modules[name]
    try:
        step, snapshot, atomic = map(importlib.import_module, ("step", "snapshot", "atomic"))
        yield step, snapshot, atomic
    finally:
        for name in beside(folder).keys() - {"__main__"}:
            del sys.modules[name]
        sys.modules.update(own)


def beside(folder: Path) -> dict[str, ModuleType]:
    """Return the imported modules whose files are in a folder."""
    found = {}
    for name, each in list(sys.modules.items()):
        file = getattr(each, "__dict__", {}).get("__file__")  # loads no lazy module
        if file and Path(file).parent == folder:
            found[name] = each
    return found


def equal(one: Any, other: Any) -> bool:
    """Return whether two states have the same structure and the same values, bit for bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return type(one) is type(other) and bool(one == other)
